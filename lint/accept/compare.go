package accept

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// tally summarizes the findings with one key.
type tally struct {
	level          diag.Level // the worst
	count, pending int
}

func (t tally) with(d *diag.Diagnostic) tally {
	if d.Level.Rank() > t.level.Rank() {
		t.level = d.Level
	}
	return tally{t.level, t.count + 1, t.pending + d.Pending}
}

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

// comparableKey returns a function that maps keys for a comparison with an earlier state. An object
// has a branch only if there are alternatives to it. If only one state has alternatives, the
// branch is ignored; otherwise every finding of an environment would be new as soon as a second
// one is added.
func comparableKey(before, now []diag.Key) func(diag.Key) diag.Key {
	object := func(k diag.Key) diag.Key {
		k.Branch, k.Rule, k.Field = "", "", ""
		return k
	}
	had, has := map[diag.Key]bool{}, map[diag.Key]bool{}
	plain := map[diag.Key]bool{}
	for _, side := range []struct {
		keys  []diag.Key
		known map[diag.Key]bool
	}{{before, had}, {now, has}} {
		for _, k := range side.keys {
			side.known[object(k)] = side.known[object(k)] || k.Branch != ""
		}
	}
	for k, branched := range had {
		if is, there := has[k]; there && is != branched {
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

// renamed returns the renders of an earlier state that have another name now, because their
// findings are the same.
func renamed(before, now []diag.Key) map[string]string {
	had, has := byRender(before), byRender(now)
	names := map[string]string{} // by the findings of renders that exist only now
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if _, there := had[name]; !there {
			names[has[name]] = name
		}
	}
	to := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(had)) {
		other, found := names[had[name]]
		if _, there := has[name]; found && !there {
			to[name] = other
			delete(names, had[name])
		}
	}
	return to
}

// byRender returns the findings of each render as a text without the render's name.
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

// split separates findings that some allowance covers from those beyond it. Of the findings
// with one key, all are beyond if they leave more pods Pending than allowed; otherwise those of
// a worse level, and the last of the rest if there are too many: equal findings cannot be told
// apart. What increased becomes a detail, after the text in more. The function key maps keys
// before they are compared.
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

// grow records the findings of a group that are beyond the allowance, and why; the reason is
// empty if nothing was allowed.
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

// Difference says what happened to the findings of a revision.
type Difference struct {
	// Introduced are the findings that the revision did not have, Unchanged the others.
	Introduced, Unchanged []diag.Diagnostic
	// Fixed are findings of the revision that are gone. Undecided are gone as well, but perhaps
	// not fixed: they were not checked again, or pods of their object are Pending now, which
	// leaves questions about changes open.
	Fixed, Undecided []diag.Diagnostic
}

// Since compares the findings of a tree, and those that it accepts, with the findings in the
// tree of a revision. Open reports whether it is unknown if a missing finding still applies,
// because its file is skipped now or a number is unknown; nil means never.
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

// objectOf returns the key of a finding reduced to its object.
func objectOf(d *diag.Diagnostic) diag.Key {
	key := d.Key()
	key.Rule, key.Field = "", ""
	return key
}

func wrap(all []diag.Diagnostic) []Finding {
	var list []Finding
	for _, d := range all {
		list = append(list, Finding{Diagnostic: d})
	}
	return list
}

func unwrap(all []Finding) []diag.Diagnostic {
	var list []diag.Diagnostic
	for _, f := range all {
		list = append(list, f.Diagnostic)
	}
	return list
}

// Allowance counts suppressions by what they accept. Another reason does not make a suppression
// new, a later date does.
type Allowance map[diag.Suppression]int

// Allow counts suppressions.
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

// Take reports whether the allowance has an equal suppression, and uses it up.
func (a Allowance) Take(s diag.Suppression) bool {
	key := bare(s)
	if a[key] == 0 {
		return false
	}
	a[key]--
	return true
}

// NewSuppressions returns the suppressions that a tree has and the tree of a revision does not.
func NewSuppressions(before, now []diag.Suppression) []diag.Suppression {
	had := Allow(before)
	var brought []diag.Suppression
	for _, s := range now {
		if !had.Take(s) {
			brought = append(brought, s)
		}
	}
	return brought
}

// compareKeys defines the order of the entries of a baseline.
func compareKeys(a, b diag.Key) int {
	return slices.CompareFunc(a.Parts(), b.Parts(), strings.Compare)
}
