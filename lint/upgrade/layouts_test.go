package upgrade

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// zone is the state of the nodes of a pool in one zone.
type zone struct{ old, drained, fresh int }

// walker visits all states of an upgrade, without pods.
type walker struct {
	nodes layout
	s     Settings
	seen  map[string]bool
	at    []zone
	// during and first hold the usable nodes while some are drained, and all nodes when the first old one
	// is gone.
	during, first map[string]bool
}

func (w *walker) visit() {
	key := fmt.Sprint(w.at)
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	n, old, drained, fresh, missing := w.nodes.total(), 0, 0, 0, 0
	usable := make(layout, len(w.nodes))
	for z, x := range w.at {
		old, drained, fresh = old+x.old, drained+x.drained, fresh+x.fresh
		missing += max(0, w.nodes[z]-x.old-x.fresh)
		if usable[z] = x.fresh; !w.s.CordonAll {
			usable[z] += x.old
		}
	}
	if w.s.AnyZone {
		missing = max(0, n-old-fresh)
	}
	if drained > 0 {
		w.during[fmt.Sprint(usable)] = true
	}
	step := func(z int, by zone) {
		x := &w.at[z]
		x.old, x.drained, x.fresh = x.old+by.old, x.drained+by.drained, x.fresh+by.fresh
		if by.drained < 0 && old+drained == n {
			all := make(layout, len(w.nodes))
			for z, x := range w.at {
				all[z] = x.old + x.drained + x.fresh
			}
			w.first[fmt.Sprint(all)] = true
		}
		w.visit()
		x.old, x.drained, x.fresh = x.old-by.old, x.drained-by.drained, x.fresh-by.fresh
	}
	for z, x := range w.at {
		if old+drained+fresh < n+w.s.Surge && fresh < n && (w.s.AnyZone || x.fresh < w.nodes[z]) {
			step(z, zone{fresh: 1})
		}
		after := missing + 1
		if !w.s.AnyZone && x.old+x.fresh > w.nodes[z] || w.s.AnyZone && old+fresh > n {
			after = missing
		}
		if x.old > 0 && drained < w.s.Surge+w.s.Unavailable && after <= w.s.Unavailable {
			step(z, zone{old: -1, drained: 1})
		}
		if x.drained > 0 {
			step(z, zone{drained: -1})
		}
	}
}

// TestLayouts compares the sets of usable nodes with those of all upgrades of small pools. Each set
// of an upgrade must be listed. The nodes that exist when the first old node is gone must be
// among those of a listed set.
func TestLayouts(t *testing.T) {
	exact, more := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := &walker{nodes: make(layout, 1+r.IntN(3)), seen: map[string]bool{}, during: map[string]bool{}, first: map[string]bool{}}
		for range 1 + r.IntN(4) {
			w.nodes[r.IntN(len(w.nodes))]++
		}
		w.s = Settings{Surge: r.IntN(3), Unavailable: r.IntN(3), AnyZone: r.IntN(2) == 0, CordonAll: r.IntN(3) == 0}
		if w.s.Surge+w.s.Unavailable == 0 {
			w.s.Surge = 1
		}
		for _, n := range w.nodes {
			w.at = append(w.at, zone{old: n})
		}
		w.visit()
		all, ok := layoutsOf(w.nodes, w.s)
		if !ok {
			t.Fatalf("%v %+v: too many", w.nodes, w.s)
		}
		listed := map[string]bool{}
		for _, l := range all.during {
			listed[fmt.Sprint(l)] = true
		}
		for at := range w.during {
			if !listed[at] {
				t.Errorf("%v %+v: %s is missing", w.nodes, w.s, at)
			}
		}
		if exact++; len(listed) > len(w.during) {
			more++
		}
		for at := range w.first {
			if !slices.ContainsFunc(all.most, func(l layout) bool { return covers(l, at, w.nodes.total()+w.s.Surge) }) {
				t.Errorf("%v %+v: %s is not among %v", w.nodes, w.s, at, all.most)
			}
		}
	}
	if more*2 > exact {
		t.Errorf("%d of %d lists have sets that no upgrade reaches", more, exact)
	}
}

// covers reports whether a layout has at least the nodes of a printed one.
func covers(l layout, at string, most int) bool {
	found := false
	less := make(layout, len(l))
	var try func(z int)
	try = func(z int) {
		if z == len(l) {
			found = found || fmt.Sprint(less) == at
			return
		}
		for n := 0; n <= min(l[z], most); n++ {
			less[z] = n
			try(z + 1)
		}
	}
	try(0)
	return found
}
