package search

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Roster is a list of workloads whose pods are present together, in addition to running pods. A
// question is often asked about each workload in turn, so a Roster computes once what these
// questions share: the sum of the requests, how the workloads distinguish nodes, and which
// workloads their rules may select.
type Roster struct {
	m *model.Model
	// all combines ws and running.
	ws, running, all []*workload.Workload
	// many is nil if there are only a few workloads, or if one object declares several of them.
	many *many
	// demands caches the results of demand. full caches the result of Overfull.
	demands map[corev1.ResourceName]classes.Demand
	full    *bool
}

// fewMembers is the maximum number of workloads that are scanned individually.
const fewMembers = 40

// many holds aggregate data for a large number of workloads.
type many struct {
	at map[*source.Object]*workload.Workload
	// looks counts the workloads for each result of classes.Look, which describes how they
	// distinguish nodes. sample holds one workload for each result.
	looks  map[string]int
	sample []*workload.Workload
	// asked is the sum of the requests of all pods except those of DaemonSets. daemons is the sum
	// of the requests of one pod for each DaemonSet.
	asked, daemons map[corev1.ResourceName]int64
	pods           int
}

// NewRoster returns a Roster for the given workloads and running workloads in a model.
func NewRoster(m *model.Model, ws, running []*workload.Workload) *Roster {
	r := &Roster{m: m, ws: ws, running: running, all: ws, demands: map[corev1.ResourceName]classes.Demand{}}
	if len(running) > 0 {
		r.all = slices.Concat(ws, running)
	}
	if len(ws) <= fewMembers {
		return r
	}
	m.Run().Spend(4 * len(ws))
	x := &many{at: make(map[*source.Object]*workload.Workload, len(ws)), looks: map[string]int{}}
	x.asked, x.daemons = map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}
	for _, w := range ws {
		g, pods, asked := m.Groups[w], model.Certain(w), x.asked
		x.at[w.Object] = w
		if w.Kind.PerNode() {
			asked, pods = x.daemons, 1
		} else {
			x.pods += pods
		}
		asked[corev1.ResourcePods] = classes.Sum(asked[corev1.ResourcePods], 1, pods)
		for i := range g.Requests {
			if name := g.Requests[i].Name; name != corev1.ResourcePods {
				asked[name] = classes.Sum(asked[name], g.Requests[i].Amount, pods)
			}
		}
		look := classes.Look(g)
		if x.looks[look]++; x.looks[look] == 1 {
			x.sample = append(x.sample, w)
		}
	}
	if len(x.at) == len(ws) {
		r.many = x
	}
	return r
}

// Workloads returns the listed workloads, excluding the running ones.
func (r *Roster) Workloads() []*workload.Workload { return r.ws }

// Kinds groups the nodes into kinds. All nodes of a kind look the same to the listed workloads and
// to w, which may be an edited version of one of them.
func (r *Roster) Kinds(w *workload.Workload, pods int, key string) *Kinds {
	all := r.all
	if x := r.many; x != nil { // these workloads together make the same distinctions as the whole roster
		all = slices.Concat(x.sample, r.running)
		if declared := x.at[w.Object]; declared != w {
			if declared != nil && x.looks[classes.Look(r.m.Groups[declared])] == 1 {
				all = slices.DeleteFunc(all, func(o *workload.Workload) bool { return o == declared })
			}
			all = append(all, w)
		}
	}
	return KindsOf(r.m, all, pods, key)
}

// near returns the listed workloads that a hard rule may connect with w, whichever of the two has
// the rule. It also returns w itself and the running workloads.
func (r *Roster) near(w *workload.Workload) []*workload.Workload {
	x := r.many
	if x == nil {
		return r.all
	}
	all := append([]*workload.Workload{w}, r.running...)
	seen := map[*source.Object]bool{w.Object: true}
	add := func(o *source.Object) {
		if member := x.at[o]; member != nil && !seen[o] {
			seen[o], all = true, append(all, member)
		}
	}
	for t := range r.m.Groups[w].HardTerms() {
		for _, list := range r.m.Index.Candidates(t, w) {
			r.m.Run().Spend(len(list) / 2)
			for _, o := range list {
				add(o.Object)
			}
		}
	}
	for _, o := range r.m.AskedAbout(w) {
		add(o.Object)
	}
	return all
}

// pods returns the total pod count of all listed workloads, using the given count for w.
func (r *Roster) pods(w *workload.Workload, pods int) int {
	if r.many != nil {
		return r.many.pods - certain(r.many.at[w.Object]) + pods
	}
	sum := 0
	for _, o := range r.ws {
		sum += podsOf(o, w, pods)
	}
	return sum
}

// asked returns the sum of all pods' requests for a resource. own is the number of w's pods.
func (r *Roster) asked(w *workload.Workload, own int, name corev1.ResourceName) int64 {
	g := r.m.Groups[w]
	if r.many == nil {
		sum := int64(0)
		for _, o := range r.ws {
			sum = classes.Sum(sum, requested(r.m.Groups[o], name), podsOf(o, w, own))
		}
		return sum
	}
	sum := r.many.asked[name]
	if sum == math.MaxInt64 {
		return sum
	}
	if declared := r.many.at[w.Object]; declared != nil {
		sum -= requested(r.m.Groups[declared], name) * int64(certain(declared))
	}
	return classes.Sum(sum, requested(g, name), own)
}

// daemons returns the sum of one resource's requests over one pod of each DaemonSet.
func (r *Roster) daemons(name corev1.ResourceName) int64 {
	if r.many != nil {
		return r.many.daemons[name]
	}
	sum := int64(0)
	for _, o := range r.ws {
		if o.Kind.PerNode() {
			sum = classes.Sum(sum, requested(r.m.Groups[o], name), 1)
		}
	}
	return sum
}

// demand describes what the listed workloads' pods request of a resource, excluding DaemonSets.
func (r *Roster) demand(name corev1.ResourceName) classes.Demand {
	return lazy.Cached(r.demands, name, func() (d classes.Demand) {
		r.m.Run().Spend(len(r.ws) / model.PerStep)
		for _, o := range r.ws {
			if !o.Kind.PerNode() {
				d = d.With(requested(r.m.Groups[o], name), model.Certain(o))
			}
		}
		return d
	})
}

// Overfull reports whether the listed workloads' pods request more of a resource than the nodes
// that they may use can offer. Some of the pods are then Pending in every run (T12). A false result
// proves nothing.
func (r *Roster) Overfull() bool {
	if r.full != nil {
		return *r.full
	}
	ws := r.ws
	if r.many != nil {
		ws = r.many.sample
	}
	usable, names := make([]bool, len(r.m.Topology.Nodes)), map[corev1.ResourceName]bool{corev1.ResourcePods: true}
	for _, o := range ws {
		r.m.Run().Spend(1 + len(usable)/model.PerStep)
		for n, p := range r.m.Eligible(o).Nodes {
			usable[n] = usable[n] || p.All()
		}
		for i := range r.m.Groups[o].Requests {
			names[r.m.Groups[o].Requests[i].Name] = true
		}
	}
	full := false
	for name := range names {
		d, offers, sum := r.demand(name), r.m.Offers(name, r.m.Topology.Nodes), int64(0)
		for n, in := range usable {
			if in {
				sum = classes.Sum(sum, max(0, d.Usable(offers[n])), 1)
			}
		}
		full = full || sum < d.Total()
	}
	r.full = &full
	return full
}

// podsOf returns workload o's pod count, or the given count if o is w.
func podsOf(o, w *workload.Workload, pods int) int {
	if o == w {
		return pods
	}
	return model.Certain(o)
}

func certain(w *workload.Workload) int {
	if w == nil {
		return 0
	}
	return model.Certain(w)
}
