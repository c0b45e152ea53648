package disruption

import (
	"fmt"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// begins finds at which size of a growing pool the maximum of an autoscaler
// begins to fit. Where several pools may grow for the pods no single size tells.
func (j *Judge) begins(w *workload.Workload) Scaling {
	s := Scaling{Answer: diag.Unknown, Why: whyGrowth}
	e := j.m.Eligible(w)
	var pools []*topology.Pool
	extra := 0
	for i, g := range j.m.Topology.Growth {
		if e.Growth[i].All() && !slices.Contains(pools, g.Node.Pool) {
			pools, extra = append(pools, g.Node.Pool), g.Extra
		}
	}
	if len(pools) != 1 {
		return s
	}
	fits := func(k int) bool {
		scene := j.scene(j.group(w, false)).with(w, w.Scale.Max)
		m := j.m.Variant(scene.ws, j.m.GrownBy(pools[0], k))
		d := search.Decide(m, j.options(j.steps))
		v := verdict(d, scene.of[w])
		return v == diag.Always || v == diag.Sometimes
	}
	k := sort.Search(extra+1, fits)
	if k > extra {
		return Scaling{Answer: diag.Unknown, Why: "it is not known whether it fits once pools have grown"}
	}
	s.Pool, s.Size = pools[0].Name, pools[0].Count+k
	s.Why = fmt.Sprintf("begins to fit with %d nodes in pool %s", s.Size, s.Pool)
	return s
}
