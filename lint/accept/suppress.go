package accept

import (
	"slices"
	"strings"
	"time"

	"github.com/schedlint/schedlint/lint/diag"
)

// Finding is a diagnostic with what suppressions look at beside it.
type Finding struct {
	diag.Diagnostic
	// Start is where its object begins; zero where there is none.
	Start diag.Span
	// Labels are those of the object itself.
	Labels map[string]string
	// Moved is set if its place is not where it was found, but where that was
	// rendered from.
	Moved bool
	// Template is the line of a template that prints what is at the place, if that is a
	// value; else zero.
	Template diag.Span
}

// Suppression is a diag.Suppression that can be asked.
type Suppression struct {
	diag.Suppression
	// Meets reports whether a finding is where it is about, whatever its rule.
	Meets func(*Finding) bool
	// Start is where the object begins that it is about; zero for what is about several.
	Start diag.Span
	// Decided counts objects that it is about and of which its rule knows
	// everything; Open is set if there are others.
	Decided int
	Open    bool
}

// Problem is what is wrong with a suppression.
type Problem string

// The problems.
const (
	NamesNoRule   Problem = "names-no-rule"
	WithoutReason Problem = "without-reason"
	Expired       Problem = "expired"
	Unused        Problem = "unused"
)

// Complaint is one suppression with something wrong about it.
type Complaint struct {
	Problem Problem
	diag.Suppression
	// Near is the rule that was probably meant, or "".
	Near string
}

// Options say by what to judge suppressions.
type Options struct {
	// Today is the day, as in 2026-11-21.
	Today string
	// Rules are the names of all rules there are.
	Rules []string
}

const dateForm = "2006-01-02"

// IsDate reports whether s is a day as in 2027-03-31.
func IsDate(s string) bool {
	_, err := time.Parse(dateForm, s)
	return err == nil
}

// Reason splits the words behind a rule into the reason and the last day, which
// is the word until=DATE somewhere among them.
func Reason(text string) (reason, until string) {
	var words []string
	for _, word := range strings.Fields(text) {
		if date, ok := strings.CutPrefix(word, "until="); ok && until == "" {
			until = date
			if date == "" {
				until = "?" // no day at all, which must not pass for none asked
			}
			continue
		}
		words = append(words, word)
	}
	return strings.Join(words, " "), until
}

// expired reports whether a day, if there is one, is over, or is none.
func expired(until, today string) bool {
	return until != "" && (!IsDate(until) || until < today)
}

// fault is what keeps a suppression from accepting anything; "" for nothing.
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

// Holds reports whether a suppression accepts what it is about.
func (s *Suppression) Holds(o Options) bool { return s.fault(o) == "" }

// written is one suppression as it was written: several renders may contain it.
type written struct {
	by, rule string
	location diag.Span
}

func (s *Suppression) written() written { return written{s.By, s.Rule, s.Location} }

// Suppress takes out the findings that suppressions accept, and complains.
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
		switch problem {
		case "":
		case NamesNoRule:
			complaints = append(complaints, Complaint{problem, all[i].Suppression, diag.Nearest(all[i].Rule, o.Rules)})
		default:
			complaints = append(complaints, Complaint{Problem: problem, Suppression: all[i].Suppression})
		}
	}
	return kept, accepted, complaints
}
