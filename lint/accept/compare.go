package accept

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// tally summarizes the findings that share a key.
type tally struct {
	level          diag.Level // the worst
	count, pending int
}

func (t tally) with(d *diag.Diagnostic) tally { return t.plus(tally{d.Level, 1, d.Pending}) }

func (t tally) plus(o tally) tally {
	if o.level.Rank() > t.level.Rank() {
		t.level = o.level
	}
	return tally{t.level, t.count + o.count, t.pending + o.pending}
}

func tallies(findings []diag.Diagnostic, key func(diag.Key) diag.Key) map[diag.Key]tally {
	all := map[diag.Key]tally{}
	for i := range findings {
		k := key(findings[i].Key())
		all[k] = all[k].with(&findings[i])
	}
	return all
}

// comparableKey returns a function that adjusts keys so that two revisions can be compared. The
// function replaces the old names of renders with their new names. If an object has alternatives in
// only one of the revisions, the function removes the branch from the object's keys. Otherwise, the
// findings in the first environment would look new after a second environment is added.
func comparableKey(before, now []diag.Key) func(diag.Key) diag.Key {
	object := func(k diag.Key) diag.Key {
		k.Branch, k.Rule, k.Field = "", "", ""
		return k
	}
	branched := func(keys []diag.Key) map[diag.Key]bool {
		all := map[diag.Key]bool{}
		for _, k := range keys {
			all[object(k)] = all[object(k)] || k.Branch != ""
		}
		return all
	}
	has, plain := branched(now), map[diag.Key]bool{}
	for k, was := range branched(before) {
		if is, there := has[k]; there && is != was {
			plain[k] = true
		}
	}
	renamed := renamed(before, now)
	return func(k diag.Key) diag.Key {
		if to, ok := renamed[k.Render]; ok {
			k.Render = to
		}
		if plain[object(k)] {
			k.Branch = ""
		}
		return k
	}
}

// renamed maps the old names of renamed renders to their new names. It recognizes a renamed render
// by its findings, which stay the same.
func renamed(before, now []diag.Key) map[string]string {
	had, has := byRender(before), byRender(now)
	names := map[string]string{} // names of new renders by their findings
	for _, name := range sorting.Keys(has) {
		if _, there := had[name]; !there {
			names[has[name]] = name
		}
	}
	to := map[string]string{}
	for _, name := range sorting.Keys(had) {
		other, found := names[had[name]]
		if _, there := has[name]; found && !there {
			to[name] = other
			delete(names, had[name])
		}
	}
	return to
}

// byRender maps each render name to a string that lists the keys of the render's findings. The
// string does not contain the render name.
func byRender(keys []diag.Key) map[string]string {
	said := map[string][]string{}
	for _, k := range keys {
		if render := k.Render; render != "" {
			k.Render = ""
			said[render] = append(said[render], fmt.Sprintf("%q", k.Parts()))
		}
	}
	all := map[string]string{}
	for render, list := range said {
		slices.Sort(list)
		all[render] = strings.Join(slices.Compact(list), "\n")
	}
	return all
}

func keysOf(findings []diag.Diagnostic) []diag.Key {
	all := make([]diag.Key, len(findings))
	for i := range findings {
		all[i] = findings[i].Key()
	}
	return all
}

// split separates the findings within the allowance for their key from those beyond it. Findings
// with the same key are all beyond the allowance if together they leave too many pods Pending.
// Otherwise, a finding is beyond the allowance if its level is too high. If too many findings
// remain, the last ones are beyond the allowance. split adds the reason, preceded by the text in
// more, to the details of a finding. It applies the function key to all keys before it compares
// them.
func split(findings []Finding, allowed map[diag.Key]tally, key func(diag.Key) diag.Key, more string) (within, beyond []Finding) {
	groups := map[diag.Key][]int{}
	for i := range findings {
		k := key(findings[i].Key())
		groups[k] = append(groups[k], i)
	}
	grown := map[int]string{}
	for key, group := range groups {
		grow(findings, group, allowed[key], grown)
	}
	for i, f := range findings {
		why, out := grown[i]
		if !out {
			within = append(within, f)
			continue
		}
		if why != "" {
			f.Details = append(slices.Clip(f.Details), more+why)
		}
		beyond = append(beyond, f)
	}
	return within, beyond
}

// grow records which findings in a group are beyond the allowance, and why. If nothing was allowed,
// the reason is empty.
func grow(findings []Finding, group []int, allowed tally, grown map[int]string) {
	var now tally
	for _, i := range group {
		now = now.with(&findings[i].Diagnostic)
	}
	var rest []int
	for _, i := range group {
		switch {
		case allowed.count == 0:
			grown[i] = ""
		case now.pending > allowed.pending:
			grown[i] = fmt.Sprintf("%d Pending instead of %d", now.pending, allowed.pending)
		case findings[i].Level.Rank() > allowed.level.Rank():
			grown[i] = fmt.Sprintf("%s instead of %s", findings[i].Level, allowed.level)
		default:
			rest = append(rest, i)
		}
	}
	if allowed.count > 0 && len(rest) > allowed.count {
		for _, i := range rest[allowed.count:] {
			grown[i] = fmt.Sprintf("%d alike instead of %d", now.count, allowed.count)
		}
	}
}

// Difference is the result of comparing the current findings with those of a revision.
type Difference struct {
	// Introduced holds the current findings that the revision did not have. Unchanged holds all
	// other current findings.
	Introduced, Unchanged []diag.Diagnostic
	// Fixed holds the findings of the revision that no longer apply. Undecided holds findings that
	// have disappeared but may still apply. They were not checked again, or later changes were not
	// examined because pods of their object are now Pending.
	Fixed, Undecided []diag.Diagnostic
}

// Since compares the current findings with those of a revision. A finding that is now accepted does
// not count as fixed. The function open reports whether a finding that has disappeared may still
// apply, for example because its file is now skipped. If open is nil, such findings are assumed not
// to apply any more.
func Since(before, now, accepted []diag.Diagnostic, open func(*diag.Diagnostic) bool) Difference {
	key := comparableKey(keysOf(before), keysOf(now))
	within, beyond := split(wrap(now), tallies(before, key), key, "worse than before: ")
	d := Difference{Introduced: unwrap(beyond), Unchanged: unwrap(within)}
	left := tallies(slices.Concat(now, accepted), key)
	pending := map[diag.Key]bool{}
	for i := range d.Introduced {
		if f := &d.Introduced[i]; f.Pending > 0 {
			pending[objectOf(f)] = true
		}
	}
	for i := range before {
		k := key(before[i].Key())
		switch t := left[k]; {
		case t.count > 0:
			t.count--
			left[k] = t
		case pending[objectOf(&before[i])] || open != nil && open(&before[i]):
			d.Undecided = append(d.Undecided, before[i])
		default:
			d.Fixed = append(d.Fixed, before[i])
		}
	}
	return d
}

// objectOf returns a key that identifies only the object of a finding.
func objectOf(d *diag.Diagnostic) diag.Key {
	key := d.Key()
	key.Rule, key.Field = "", ""
	return key
}

func wrap(all []diag.Diagnostic) []Finding {
	return lists.Of(all, func(d diag.Diagnostic) Finding { return Finding{Diagnostic: d} })
}

func unwrap(all []Finding) []diag.Diagnostic {
	return lists.Of(all, func(f Finding) diag.Diagnostic { return f.Diagnostic })
}

// Allowance counts equal suppressions. Two suppressions are equal even if their reasons or
// locations differ, but not if their last days differ.
type Allowance map[diag.Suppression]int

// Allow returns the allowance for a list of suppressions.
func Allow(all []diag.Suppression) Allowance {
	a := Allowance{}
	for _, s := range all {
		a[bare(s)]++
	}
	return a
}

func bare(s diag.Suppression) diag.Suppression {
	s.Reason, s.Location = "", diag.Span{}
	return s
}

// Take removes one suppression that equals s from the allowance. It reports whether there was one.
func (a Allowance) Take(s diag.Suppression) bool {
	key := bare(s)
	if a[key] == 0 {
		return false
	}
	a[key]--
	return true
}

// NewSuppressions returns the suppressions in now that are not in before.
func NewSuppressions(before, now []diag.Suppression) []diag.Suppression {
	return slices.DeleteFunc(slices.Clone(now), Allow(before).Take)
}

// CompareWith reduces the current report to the findings that are new since a revision, and stores
// the result of the comparison in now.Change. before is the report for the revision, made with the
// revision's own configuration, nodes and suppressions. silences lists further silences that the
// reports do not contain, such as configuration changes.
func CompareWith(now, before *diag.Report, revision string, silences []diag.Silence) {
	for _, q := range now.Quiet { // problems of renders that succeeded in the other revision
		if slices.Contains(before.Rendered, q.Render) {
			now.Diagnostics = append(now.Diagnostics, q.Diagnostic)
		}
	}
	before.Diagnostics = matchToRenders(before.Diagnostics, now.Diagnostics, before.Rendered, now.Rendered)
	d := Since(before.Diagnostics, now.Diagnostics, now.Accepted, now.AnswerUnknown)
	n := len(d.Introduced)
	d.Introduced = slices.DeleteFunc(d.Introduced, func(f diag.Diagnostic) bool { // possibly not new
		return f.Render != "" && slices.Contains(before.NotRendered, f.Render)
	})
	if n -= len(d.Introduced); n > 0 {
		now.Summary.Notes = append(now.Summary.Notes, fmt.Sprintf("findings in directories that cannot be rendered at %s and may not be new: %d", revision, n))
	}
	c := &diag.Change{Since: revision, Introduced: len(d.Introduced), Unchanged: d.Unchanged, Undecided: d.Undecided}
	if before.Complete() {
		c.Before = before.Summary.Counts()
	}
	for i := range d.Fixed {
		if now.SubjectGone != nil && now.SubjectGone(&d.Fixed[i]) {
			c.Gone = append(c.Gone, d.Fixed[i])
		} else {
			c.Fixed = append(c.Fixed, d.Fixed[i])
		}
	}
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

// Lost returns the findings of an earlier revision that the current report no longer has.
func Lost(now, before *diag.Report) []diag.Diagnostic {
	d := Since(matchToRenders(before.Diagnostics, now.Diagnostics, before.Rendered, now.Rendered), now.Diagnostics, now.Accepted, nil)
	return slices.Concat(d.Fixed, d.Undecided)
}

// Remaining returns the indices of those findings that another run on the same objects has, too.
func Remaining(findings, then []diag.Diagnostic) (all []int) {
	key := comparableKey(keysOf(findings), keysOf(then))
	left := tallies(then, key)
	for i := range findings {
		k := key(findings[i].Key())
		if t := left[k]; t.count > 0 {
			t.count--
			left[k], all = t, append(all, i)
		}
	}
	return all
}

// matchToRenders rewrites the findings of an earlier revision so that they match the renders of a
// later revision. An object may be rendered in only one of the two revisions. Two findings match if
// the same rule reports the same field of the same source object.
func matchToRenders(before, now []diag.Diagnostic, had, has []string) []diag.Diagnostic {
	type spot struct {
		rule, field string
		object      diag.Object
	}
	at := func(d *diag.Diagnostic, o diag.Object) spot {
		if o == (diag.Object{}) || o.Kind == "file" { // a chart prints it
			o = d.Object
		}
		return spot{d.Rule, d.Key().Field, o}
	}
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
			delete(raw, at(&d, d.Written)) // report the finding once in the source, even if several renders had it
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

// Inert returns a silence for each suppression that the run found but ignored.
func Inert(r *diag.Report, revision string) []diag.Silence {
	var all []diag.Silence
	for _, s := range r.Inert {
		all = append(all, diag.Silence{Message: silenced(s) + " (no effect: " + revision + " does not have it)", Location: s.Location})
	}
	return all
}

// silenced describes the rule and the target of a suppression.
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

// Raised returns a silence for each entry of the current baseline that accepts more than an earlier
// baseline did. It returns one more silence if the current baseline stays valid longer. The earlier
// baseline may be nil.
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

// unjudged returns a silence for each object that still exists but is no longer checked. Its
// findings have disappeared without being fixed.
func unjudged(now, before *diag.Report) []diag.Silence {
	if now.WhyUnjudged == nil {
		return nil
	}
	var all []diag.Silence
	for i := range before.Judged {
		j := &before.Judged[i]
		if why := now.WhyUnjudged(j); why != "" {
			name := diag.ObjectName(j.Object.Kind, j.Object.Namespace, j.Object.Name)
			all = append(all, diag.Silence{Message: name + " is no longer checked: " + why, Location: j.Location})
		}
	}
	sorting.Stable(all, func(a, b diag.Silence) int {
		return cmp.Or(a.Location.Compare(b.Location), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}
