package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/fixtures/clusters"
)

// show prints one case and what the sides say of it.
func show(o options) {
	c := clusters.Generate(o.families[0], o.seed, uint64(o.one))
	nodes, manifests := c.Text()
	fmt.Println(nodes + manifests)
	r, err := newComparer(o).try(nodes, manifests)
	fmt.Println("#", err)
	if r != nil {
		fmt.Printf("# %+v\n", *r)
	}
}

// report shrinks and prints the first disagreements of every cause.
func report(o options, failures []failure, folder string) {
	comparer := newComparer(o)
	seen := map[string]int{}
	for _, f := range failures {
		key := f.finding.Kind + " " + f.finding.Cause
		seen[key]++
		if seen[key] > 1 || len(seen) > 25 {
			continue
		}
		small := comparer.shrink(f)
		nodes, manifests := small.c.Text()
		fmt.Printf("\n=== %s case %d (%s: %s)\n%s\n%s%s", f.c.Family, f.c.Number, f.finding.Kind, f.finding.Cause, small.finding.Text, nodes, manifests)
		if folder != "" {
			name := fmt.Sprintf("found-%s-%d-%d", f.c.Family, o.seed, f.c.Number)
			if err := save(comparer.World, folder, name, small.finding.Text, small.c); err != nil {
				fmt.Println(err)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		fmt.Printf("%5d  %s\n", seen[key], key)
	}
}

// shrink takes parts away from a case while the disagreement stays.
func (c *Comparer) shrink(f failure) failure {
	holds := func(k *clusters.Case) (Finding, bool) {
		nodes, manifests := k.Text()
		r, err := c.try(nodes, manifests)
		if err != nil {
			return Finding{Text: err.Error()}, f.finding.Kind == "error"
		}
		for _, g := range r.Findings {
			if g.Kind == f.finding.Kind && g.Cause == f.finding.Cause {
				return g, true
			}
		}
		return Finding{}, false
	}
	best := f
	for again := true; again; {
		again = false
		for k := range best.c.Smaller() {
			if g, ok := holds(k); ok {
				best, again = failure{k, g}, true
				break
			}
		}
	}
	return best
}
