package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// network is a flow network with integer capacities, solved by Dinic's method. The arcs
// of a vertex are tried in a fixed order, the last added first, so the flow is the same
// on every run.
type network struct {
	spend     func(int)
	first     []int32 // by vertex: the arc added last, or -1
	next, to  []int32 // by arc; an arc and its reverse are 2k and 2k+1
	rest      []int64 // residual capacity of an arc
	level, at []int32
}

func newNetwork(m *model.Model, vertices int) *network {
	first := slices.Repeat([]int32{-1}, vertices)
	return &network{spend: m.Run().Spend, first: first, level: make([]int32, vertices), at: make([]int32, vertices)}
}

// grow adds a vertex.
func (g *network) grow() int {
	g.first, g.level, g.at = append(g.first, -1), append(g.level, 0), append(g.at, 0)
	return len(g.first) - 1
}

// join adds an arc and returns its number.
func (g *network) join(from, to int, capacity int64) int {
	arc := len(g.to)
	g.to, g.rest = append(g.to, int32(to), int32(from)), append(g.rest, capacity, 0)
	g.next = append(g.next, g.first[from], g.first[to])
	g.first[from], g.first[to] = int32(arc), int32(arc+1)
	return arc
}

// through returns the flow through an arc.
func (g *network) through(arc int) int64 { return g.rest[arc^1] }

// augment adds the largest possible flow to the present one. Flow that leaves the source
// through an arc is never taken back, so arcs may be added between calls to prefer the
// earlier ones.
func (g *network) augment(source, sink int) int64 {
	total := int64(0)
	for g.layer(source, sink) {
		copy(g.at, g.first)
		for {
			pushed := g.push(int32(source), int32(sink), 1<<62)
			if pushed == 0 {
				break
			}
			total += pushed
		}
	}
	return total
}

// layer numbers the vertices by their distance from the source in the residual network.
// If the sink is not reached, the numbered vertices are the source's side of a minimum
// cut.
func (g *network) layer(source, sink int) bool {
	g.spend(1 + (len(g.level)+len(g.to))/model.PerStep)
	for v := range g.level {
		g.level[v] = -1
	}
	g.level[source] = 0
	queue := []int32{int32(source)}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for e := g.first[v]; e >= 0; e = g.next[e] {
			if w := g.to[e]; g.rest[e] > 0 && g.level[w] < 0 {
				g.level[w] = g.level[v] + 1
				queue = append(queue, w)
			}
		}
	}
	return g.level[sink] >= 0
}

func (g *network) push(v, sink int32, most int64) int64 {
	if v == sink {
		return most
	}
	for ; g.at[v] >= 0; g.at[v] = g.next[g.at[v]] {
		g.spend(1)
		e := g.at[v]
		w := g.to[e]
		if g.rest[e] == 0 || g.level[w] != g.level[v]+1 {
			continue
		}
		if pushed := g.push(w, sink, min(most, g.rest[e])); pushed > 0 {
			g.rest[e] -= pushed
			g.rest[e^1] += pushed
			return pushed
		}
	}
	return 0
}

// beyond reports whether a vertex is on the sink's side of a minimum cut, once no more
// flow can be added.
func (g *network) beyond(v int) bool { return g.level[v] < 0 }
