package accept

import (
	"slices"
	"strings"
	"time"

	"github.com/schedlint/schedlint/lint/diag"
)

// Finding is a diagnostic with additional data for matching suppressions.
type Finding struct {
	diag.Diagnostic
	// Start is the start of the finding's object, or zero if the finding has no object.
	Start diag.Span
	// Labels holds the labels of the object itself, not those of its pods.
	Labels map[string]string
	// Moved is set if the finding was moved from rendered text to its source.
	Moved bool
	// Template is the template line that prints the value at the finding's location, or zero if no
	// template does.
	Template diag.Span
}

// Suppression is a diag.Suppression with the data that Suppress needs to apply it.
type Suppression struct {
	diag.Suppression
	// Meets reports whether the suppression covers a finding. It ignores the rule of the finding.
	Meets func(*Finding) bool
	// Start is the start of the object that the suppression applies to, or zero if the suppression
	// may apply to several objects.
	Start diag.Span
	// Decided counts the objects that the suppression applies to and whose facts are complete for
	// its rule. Open is set if the suppression also applies to objects with incomplete facts.
	Decided int
	Open    bool
}

// Problem is the reason for a complaint about a suppression.
type Problem string

// Values of Problem.
const (
	NamesNoRule   Problem = "names-no-rule"
	WithoutReason Problem = "without-reason"
	Expired       Problem = "expired"
	Unused        Problem = "unused"
)

// Complaint reports a suppression with a problem.
type Complaint struct {
	Problem Problem
	diag.Suppression
	// Near is the rule that the user probably meant, or "".
	Near string
}

// Options holds the data needed to judge suppressions.
type Options struct {
	// Today is the date, such as 2026-11-21.
	Today string
	// Rules lists the names of all rules.
	Rules []string
}

const dateForm = "2006-01-02"

// IsDate reports whether s is a date such as 2027-03-31.
func IsDate(s string) bool {
	_, err := time.Parse(dateForm, s)
	return err == nil
}

// Reason splits the text after a rule name into the reason and the last day. The last day is given
// by the word until=DATE, which may be anywhere in the text.
func Reason(text string) (reason, until string) {
	var words []string
	for _, word := range strings.Fields(text) {
		if date, ok := strings.CutPrefix(word, "until="); ok && until == "" {
			until = date
			if date == "" {
				until = "?" // not a date, so that it does not count as unlimited
			}
			continue
		}
		words = append(words, word)
	}
	return strings.Join(words, " "), until
}

// expired reports whether a date is in the past or invalid. It returns false for "".
func expired(until, today string) bool {
	return until != "" && (!IsDate(until) || until < today)
}

// fault returns the problem that prevents a suppression from taking effect, or "" if there is none.
func (s *Suppression) fault(o Options) Problem {
	switch {
	case !slices.Contains(o.Rules, s.Rule):
		return NamesNoRule
	case s.Reason == "":
		return WithoutReason
	case expired(s.Until, o.Today):
		return Expired
	}
	return ""
}

// Holds reports whether a suppression is in effect.
func (s *Suppression) Holds(o Options) bool { return s.fault(o) == "" }

// written identifies a suppression as written in a file. Several renders may contain the same
// suppression.
type written struct {
	by, rule string
	location diag.Span
}

func (s *Suppression) written() written { return written{s.By, s.Rule, s.Location} }

// Suppress separates the findings that suppressions accept from all other findings, and returns
// complaints about the suppressions.
func Suppress(findings []Finding, all []Suppression, o Options) (kept, accepted []Finding, complaints []Complaint) {
	byRule := map[string][]*Suppression{}
	used, open := map[written]bool{}, map[written]bool{}
	for i := range all {
		if s := &all[i]; s.fault(o) == "" {
			byRule[s.Rule] = append(byRule[s.Rule], s)
		}
	}
	kept = make([]Finding, 0, len(findings))
	for i := range findings {
		f := &findings[i]
		why := f.Accepted
		for _, s := range byRule[f.Rule] {
			if s.Meets(f) {
				if used[s.written()] = true; why == nil {
					why = &s.Acceptance
				}
			}
		}
		if why == nil {
			kept = append(kept, *f)
			continue
		}
		accepted = append(accepted, *f)
		accepted[len(accepted)-1].Accepted = why
	}
	for i := range all {
		open[all[i].written()] = open[all[i].written()] || all[i].Open
	}
	told := map[written]bool{}
	for i := range all {
		w, problem := all[i].written(), all[i].fault(o)
		if problem == "" && !used[w] && all[i].Decided > 0 && !open[w] {
			problem = Unused
		}
		if told[w] {
			continue
		}
		told[w] = problem != ""
		near := ""
		if problem == NamesNoRule {
			near = diag.Nearest(all[i].Rule, o.Rules)
		}
		if problem != "" {
			complaints = append(complaints, Complaint{problem, all[i].Suppression, near})
		}
	}
	return kept, accepted, complaints
}
