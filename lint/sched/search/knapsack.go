package search

import (
	"encoding/binary"
	"slices"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// knapsack asks for the cheapest items whose sizes add up to at least need and at most top, and
// which take less than width of something else. If exact is not set, need equals top, and the sizes
// may add up to more.
type knapsack struct {
	need, top, width int
	exact            bool
	items            []item
}

type item struct {
	size, beside int
	price        int64
}

// solution says which items to take. took is nil if there is no solution.
type solution struct {
	cost int64
	took []bool
}

// mostSolutions is the maximum number of solutions that are kept.
const mostSolutions = 5_000

// solve returns the solution of a knapsack. Workloads that differ little ask for the same ones.
func (h *headroom) solve(x *knapsack) solution {
	id := binary.AppendVarint(nil, int64(x.need))
	id = binary.AppendVarint(binary.AppendVarint(id, int64(x.top)), int64(x.width))
	id = append(id, flag(x.exact))
	for _, i := range x.items {
		id = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(id, int64(i.size)), int64(i.beside)), i.price)
	}
	h.m.Run().Spend(1 + len(x.items)/model.PerStep)
	if len(h.solutions) >= mostSolutions {
		clear(h.solutions)
	}
	return lazy.Cached(h.solutions, string(id), func() solution { return h.fresh(x) })
}

func (h *headroom) fresh(x *knapsack) solution {
	if x.width > 1 {
		// The cheapest items usually take less than width, and are found sooner without it.
		narrow := *x
		narrow.width, narrow.items = 1, slices.Clone(x.items)
		for i := range narrow.items {
			if one := &narrow.items[i]; one.beside < x.width {
				one.beside = 0
			}
		}
		got, beside := h.fresh(&narrow), 0
		for i, took := range got.took {
			if took {
				beside += x.items[i].beside
			}
		}
		if beside < x.width {
			return got
		}
	}
	top, width := x.top, x.width
	h.cost, h.took = slices.Grow(h.cost[:0], (top+1)*width), slices.Grow(h.took[:0], len(x.items)*(top+1)*width)
	cost, took := h.cost[:(top+1)*width], h.took[:len(x.items)*(top+1)*width]
	clear(took)
	for s := range cost {
		if cost[s] = impossible; s < width {
			cost[s] = 0
		}
	}
	sum, rest := 0, 0 // the most that the items so far and those to come add up to
	for _, i := range x.items {
		rest += i.size
	}
	for c, i := range x.items {
		rest -= i.size
		if i.beside >= width {
			continue
		}
		row := took[c*len(cost) : (c+1)*len(cost)]
		sum = min(top, sum+i.size)
		least := max(1, x.need-rest)
		h.m.Run().Spend(1 + max(0, sum-least)*width/(2*model.PerStep))
		if width == 1 && x.exact { // the same as below, and quicker
			if least = max(least, i.size); least <= sum {
				to := cost[least : sum+1]
				from, taken := cost[least-i.size:][:len(to)], row[least:][:len(to)]
				for t := len(to) - 1; t >= 0; t-- {
					if with := from[t] + i.price; with < to[t] {
						to[t], taken[t] = with, true
					}
				}
			}
			continue
		}
		for t := sum; t >= least; t-- {
			from := t - i.size
			if from < 0 && x.exact {
				break
			}
			from = max(0, from)
			before := cost[from*width : (from+1)*width-i.beside]
			to := cost[(t+1)*width-len(before) : (t+1)*width]
			taken := row[(t+1)*width-len(before) : (t+1)*width]
			for s, price := range before {
				if with := price + i.price; with < to[s] {
					to[s], taken[s] = with, true
				}
			}
		}
	}
	best := x.need*width + width - 1
	for t := x.need; t <= top; t++ {
		if at := t*width + width - 1; cost[at] < cost[best] {
			best = at
		}
	}
	if cost[best] >= impossible {
		return solution{cost: impossible}
	}
	out := solution{cost[best], make([]bool, len(x.items))}
	t, s := best/width, best%width
	for c := len(x.items) - 1; c >= 0; c-- {
		if took[c*len(cost)+t*width+s] {
			out.took[c] = true
			t = max(0, t-x.items[c].size)
			s -= x.items[c].beside
		}
	}
	return out
}
