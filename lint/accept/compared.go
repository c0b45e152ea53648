package accept

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// CompareWith reduces a report to the findings that the tree of a revision did not have, and adds
// what happened to the others. Before is the report on that tree, with its own configuration,
// nodes and suppressions. Silences are those that the reports do not contain, such as those of
// configurations.
func CompareWith(now, before *diag.Report, revision string, silences []diag.Silence) {
	addRenderProblems(now, before)
	before.Diagnostics = matchToRenders(before.Diagnostics, now.Diagnostics, before.Rendered, now.Rendered)
	d := Since(before.Diagnostics, now.Diagnostics, now.Accepted, now.AnswerUnknown)
	dropPossiblyOld(now, before, &d, revision)
	c := &diag.Change{Since: revision, Introduced: len(d.Introduced), Unchanged: d.Unchanged, Undecided: d.Undecided}
	c.Fixed, c.Gone = splitGone(d, now.SubjectGone)
	for _, s := range NewSuppressions(before.Suppressions, now.Suppressions) {
		c.Silences = append(c.Silences, diag.Silence{Message: silenced(s), Location: s.Location})
	}
	c.Silences = append(append(c.Silences, silences...), unjudged(now, before)...)
	now.Diagnostics, now.Change = d.Introduced, c
	if before.Display != nil {
		display, base := now.Display, before.Display
		now.Display = func(file string) string {
			if shown := display(file); shown != file {
				return shown
			}
			return base(file)
		}
	}
	now.Merge()
}

// matchToRenders rewrites the findings of an earlier state to match the renders of a later one: an
// object that was judged as written may be rendered now, and vice versa. Findings match if the
// same rule reports the same field of the same source object.
func matchToRenders(before, now []diag.Diagnostic, had, has []string) []diag.Diagnostic {
	type spot struct {
		rule, field string
		object      diag.Object
	}
	at := func(d *diag.Diagnostic, o diag.Object) spot { return spot{d.Rule, d.Key().Field, o} }
	raw, rendered := map[spot][]diag.Diagnostic{}, map[spot][]diag.Diagnostic{}
	for _, d := range now {
		switch {
		case d.Render == "":
			raw[at(&d, d.Object)] = append(raw[at(&d, d.Object)], d)
		case !slices.Contains(had, d.Render):
			rendered[at(&d, d.Written)] = append(rendered[at(&d, d.Written)], d)
		}
	}
	var all []diag.Diagnostic
	for _, d := range before {
		var as []diag.Diagnostic
		switch {
		case d.Object == (diag.Object{}):
		case d.Render == "" && len(raw[at(&d, d.Object)]) == 0:
			as = rendered[at(&d, d.Object)]
		case d.Render != "" && !slices.Contains(has, d.Render):
			as = raw[at(&d, d.Written)]
			delete(raw, at(&d, d.Written)) // the source has it once, however many renders contained it
		}
		if len(as) == 0 {
			all = append(all, d)
		}
		for _, f := range as {
			one := d
			one.Render, one.Object, one.Cluster, one.Branch = f.Render, f.Object, f.Cluster, f.Branch
			all = append(all, one)
		}
	}
	return all
}

// addRenderProblems adds the problems of renders that were rendered in the other state.
func addRenderProblems(now, before *diag.Report) {
	for _, q := range now.Quiet {
		if slices.Contains(before.Rendered, q.Render) {
			now.Diagnostics = append(now.Diagnostics, q.Diagnostic)
		}
	}
}

// dropPossiblyOld removes findings that may not be new because their render could not be built in the
// other state.
func dropPossiblyOld(now, before *diag.Report, d *Difference, revision string) {
	n := len(d.Introduced)
	d.Introduced = slices.DeleteFunc(d.Introduced, func(f diag.Diagnostic) bool {
		return f.Render != "" && slices.Contains(before.NotRendered, f.Render)
	})
	if n -= len(d.Introduced); n > 0 {
		now.Summary.Notes = append(now.Summary.Notes, fmt.Sprintf("findings in directories that cannot be rendered at %s and may not be new: %d", revision, n))
	}
}

// Inert returns the suppressions that a run found and ignored.
func Inert(r *diag.Report, revision string) []diag.Silence {
	var all []diag.Silence
	for _, s := range r.Inert {
		all = append(all, diag.Silence{Message: silenced(s) + " (no effect: " + revision + " does not have it)", Location: s.Location})
	}
	return all
}

// silenced describes a suppression.
func silenced(s diag.Suppression) string {
	text := fmt.Sprintf("%s suppresses %s", s.By, s.Rule)
	if s.Target != "" {
		text += " for " + s.Target
	}
	if s.Until != "" {
		text += " until " + s.Until
	}
	return text + ": " + s.Reason
}

// Raised returns what a baseline accepts and an earlier one, which may be nil, does not.
func Raised(now, before *Baseline) []diag.Silence {
	var all []diag.Silence
	if now == nil {
		return nil
	}
	if now.Outlives(before) {
		long := "for ever"
		if now.Until != "" {
			long = "until " + now.Until
		}
		text := fmt.Sprintf("the baseline applies %s instead of until %s: %s", long, before.Until, now.Reason)
		all = append(all, diag.Silence{Message: text, Location: now.Acceptance().Location})
	}
	for _, e := range now.NewlyAccepted(before) {
		text := fmt.Sprintf("the baseline accepts %s of %s", e.Rule, cmp.Or(diag.ObjectName(e.Kind, e.Namespace, e.Name), e.File))
		if e.Count > 1 {
			text += fmt.Sprintf(", %d times", e.Count)
		}
		if e.Pending > 0 {
			text += fmt.Sprintf(", %d Pending", e.Pending)
		}
		all = append(all, diag.Silence{Message: text + ": " + now.Reason, Location: now.Acceptance().Location})
	}
	return all
}

// unjudged returns the objects that another state of the files judged and that are present but
// no longer judged: the change silences their findings.
func unjudged(now, before *diag.Report) []diag.Silence {
	if now.WhyUnjudged == nil {
		return nil
	}
	var all []diag.Silence
	for _, j := range before.Judged {
		if why := now.WhyUnjudged(j.Object, j.Location.File); why != "" {
			name := diag.ObjectName(j.Object.Kind, j.Object.Namespace, j.Object.Name)
			all = append(all, diag.Silence{Message: name + " is no longer checked: " + why, Location: j.Location})
		}
	}
	slices.SortFunc(all, func(a, b diag.Silence) int {
		return cmp.Or(a.Location.Compare(b.Location), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

// splitGone separates findings whose object is gone from findings that were fixed.
func splitGone(d Difference, gone func(*diag.Diagnostic) bool) (fixed, lost []diag.Diagnostic) {
	for i := range d.Fixed {
		if gone != nil && gone(&d.Fixed[i]) {
			lost = append(lost, d.Fixed[i])
		} else {
			fixed = append(fixed, d.Fixed[i])
		}
	}
	return fixed, lost
}
