package accept

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// tally is what is known of the findings with one key.
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

// aligned gives the key by which findings are compared with an earlier state. An
// object has a branch only where there are alternatives to it: if it had none
// before, or has none any more, the branch says nothing about what is the same, or
// every finding of an environment would be new as soon as a second one is added.
func aligned(before, now []diag.Key) func(diag.Key) diag.Key {
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

// renamed are the renders of an earlier state that are there under another name: all
// that is said of them is the same.
func renamed(before, now []diag.Key) map[string]string {
	had, has := byRender(before), byRender(now)
	names := map[string]string{} // by what is said of those that are only there now
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

// byRender is what is said of each render, but for its name.
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

// split parts findings into those that some allowance covers and those beyond
// it. Of one key all are beyond if they leave more pods Pending than is allowed,
// else those of a worse level, and of the rest as many as there are too many, the
// last ones: nobody can tell which of several that are alike is the new one. What
// grew becomes a detail, after the words in more. Key is what of a key
// counts.
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

// grow notes those of a group that are beyond the allowance, and why; the reason
// is empty if nothing at all was allowed.
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

// Difference is what became of the findings of a revision.
type Difference struct {
	// Introduced are those that the revision did not have, Unchanged the others.
	Introduced, Unchanged []diag.Diagnostic
	// Fixed are those of the revision that are gone. Undecided are gone as well, but
	// for another reason: nobody has looked, or pods of their object stay Pending now,
	// which leaves questions about changes open.
	Fixed, Undecided []diag.Diagnostic
}

// Since compares the findings of a tree, and those that it accepts, with what the
// tree of a revision had. Open tells of a finding that is gone that nobody knows
// whether it would be there, as its file is left out now or a number is not known;
// nil means never.
func Since(before, now, accepted []diag.Diagnostic, open func(*diag.Diagnostic) bool) Difference {
	key := aligned(keysOf(before), keysOf(now))
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

// objectOf is the object of a finding alone.
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

// Allowance counts suppressions by what they accept: a new reason for the same is
// none, a later day is.
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

// Take reports whether there is one like a suppression, and counts it down.
func (a Allowance) Take(s diag.Suppression) bool {
	key := bare(s)
	if a[key] == 0 {
		return false
	}
	a[key]--
	return true
}

// Brought are the suppressions that a tree has and the tree of a revision has not.
func Brought(before, now []diag.Suppression) []diag.Suppression {
	had := Allow(before)
	var brought []diag.Suppression
	for _, s := range now {
		if !had.Take(s) {
			brought = append(brought, s)
		}
	}
	return brought
}

// compareKeys is the order of the entries of a baseline.
func compareKeys(a, b diag.Key) int {
	return slices.CompareFunc(a.Parts(), b.Parts(), strings.Compare)
}
