package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/workload"
)

// Result holds the outcome of simulated scheduler runs. Each component is simulated separately.
type Result struct {
	// Why is set if nothing could be simulated.
	Why        model.Reason
	Components []*Component
}

// Component holds the outcome for a group of workloads that interact: they can use the same nodes,
// or a rule of one selects another. DaemonSet pods come first, so DaemonSets are in no component,
// unless they compete for nodes that no other workload can use.
type Component struct {
	// Workloads is in model order.
	Workloads []*workload.Workload
	// Why is the reason why there are no results. It is empty if there are some.
	Why model.Reason
	// Without is the number of workloads about which too little is known (Why). If some others are
	// left, there are runs without them, and only Runs and the OneNode of tallies are set.
	Without int
	// Grows is set if a pool may add nodes for the pods. The runs use the declared nodes only.
	Grows bool
	// Runs is the number of runs, at least MinRuns. Complete counts those in which every pod gets
	// a node. Preempts counts those in which a pending pod can preempt others. Such a run stops
	// there and counts for nothing else.
	Runs, Complete, Preempts int
	ends                     []end
	// Tallies has the results of single workloads, in the order of Workloads. If DaemonSet pods do
	// not all fit on some node, DaemonSets follow with their pods on the component's nodes.
	Tallies []Tally
	// Stuck is a run of the split model (Model.Permanent, then Split). It leaves out pods of the
	// workload that is left out most often, which comes first in Pending. Stuck is nil if every run
	// places all pods.
	Stuck *certificate.Stuck
}

// end says how a run ends.
type end int

const (
	complete end = iota
	leftOut
	preempts
)

// Tally holds the outcome for one workload.
type Tally struct {
	Workload *workload.Workload
	Pods     int
	// LeftOut is the number of runs that leave out a pod, and Missing the most pods that a run
	// leaves out.
	LeftOut, Missing int
	first            int // the first of these runs
	// OneNode is the number of runs in which all pods, at least two, are on one node, and Most the
	// most pods that a run puts on one node.
	OneNode, Most int
}

// MinRuns is the number of runs below which no share is worth stating.
const MinRuns = 20

// Together counts the runs of all components as runs of one cluster: how many there are, how many of
// them place all pods, and in how many a pending pod can preempt others. There are none if a
// component has no results.
func (r *Result) Together() (runs, all, preempting int) {
	runs = math.MaxInt
	for _, c := range r.Components {
		if runs = min(runs, c.Runs); c.Why.Given() {
			runs = 0
		}
	}
	if len(r.Components) == 0 {
		runs = 0
	}
	for i := range runs {
		worst := complete
		for _, c := range r.Components {
			worst = max(worst, c.ends[i])
		}
		switch worst {
		case complete:
			all++
		case preempts:
			preempting++
		}
	}
	return runs, all, preempting
}

// Runs simulates the scheduler a number of times, each time from a cluster with only the running
// pods. Pods that run to completion are left out. The steps are those of questions about the
// workloads of each component.
func Runs(m *model.Model, runs int) *Result {
	r := &Result{}
	if len(m.Topology.Nodes) == 0 {
		return r
	}
	if tooLarge(m) {
		r.Why = model.Reason{Cause: model.BySize}
		return r
	}
	var all []*component
	if !m.Run().Within(m.Altogether(), func() {
		s := NewState(m.Permanent())
		failed := s.placeDaemons()
		all = s.components(failed, nil)
	}) {
		r.Why = model.Reason{Cause: model.ByBudget}
		return r
	}
	for _, c := range all {
		r.Components = append(r.Components, &c.Component)
		c.simulate(runs)
	}
	return r
}

// tooLarge reports whether a cluster has too many pods and nodes to simulate.
func tooLarge(m *model.Model) bool {
	pods := 0
	for _, w := range m.Workloads {
		pods += min(w.Count.N, maxPods)
	}
	return pods > maxChoices/len(m.Topology.Nodes)
}

// maxChoices is the maximum number of pods times nodes in a cluster. Preparing larger ones takes
// long, and the steps do not suffice for enough runs.
const maxChoices = 10_000_000

// component is a Component on its way.
type component struct {
	Component
	s     *State
	nodes []int32
	lists map[*int32]bool // those that nodes has already
	// groups holds the pods of each workload in the order of their creation, and owner their
	// indices in Tallies.
	groups [][]pod
	owner  map[*pods]int
	// daemons holds the DaemonSet pods that are placed anew in each run, because some of them do
	// not fit. The state has those in daemonsIn.
	daemons, daemonsIn []pod
	size               int  // how many pods the groups have
	ranked             bool // whether priorities differ
}

// pod is a pod to place. The node is that of a DaemonSet pod, or -1.
type pod struct {
	*pods
	node int
}

// byPriority puts pods with a higher priority first (R-B9).
func byPriority(a, b pod) int { return cmp.Compare(b.Priority.Value, a.Priority.Value) }

// placeDaemons places the pods of DaemonSets. It returns those that do not fit.
func (s *State) placeDaemons() (failed []pod) {
	var all []pod
	for _, p := range s.all {
		for _, n := range sorting.Keys(p.at) {
			all = append(all, pod{p, n})
		}
	}
	slices.SortStableFunc(all, byPriority)
	for again := true; again; {
		again = false
		failed = nil
		for _, d := range all {
			if s.board.Takes(d.unit(d.node), d.node) {
				s.move(d.pods, d.node, 1)
				again = true
			} else {
				failed = append(failed, d)
			}
		}
		again = again && len(failed) > 0
		all = failed
	}
	return failed
}

// components divides the workloads that are to be placed into those that interact. It leaves some
// out.
func (s *State) components(failed []pod, without map[*workload.Workload]bool) []*component {
	index := map[*pods]int{}
	var members []*pods
	for _, p := range s.all {
		if p.Placeable() && !p.Kind.PerNode() && p.Count.N > 0 && !without[p.Origin()] {
			index[p] = len(members)
			members = append(members, p)
		}
	}
	sets := model.NewSets(len(members)) // the first workload of each stands for all
	join := sets.Join
	origins, lists, first := map[*workload.Workload]int{}, map[*int32]int{}, map[int32]int{}
	for i, p := range members {
		join(i, lazy.Cached(origins, p.Origin(), func() int { return i }))
		if len(p.nodes) == 0 {
			continue
		}
		if j := lazy.Cached(lists, &p.nodes[0], func() int { return i }); j != i {
			join(i, j)
			continue
		}
		s.m.Run().Spend(1 + len(p.nodes)/model.PerStep)
		for _, n := range p.nodes {
			join(i, lazy.Cached(first, n, func() int { return i }))
		}
	}
	for i, p := range members {
		terms, _, _ := s.m.SoftSpreads(p.Group)
		for _, t := range slices.Concat(p.Terms, terms) {
			for _, list := range s.m.Index.Candidates(t, p.Workload) {
				s.m.Run().Spend(len(list) / model.PerStep)
				for _, w := range list {
					if j, ok := index[s.of[w]]; ok && sets.Of(i) != sets.Of(j) && s.m.Peer(t, p.Workload, w) != model.No {
						join(i, j)
					}
				}
			}
		}
	}
	for _, apart := range s.m.Apart {
		i, found := origins[apart.A]
		if j, ok := origins[apart.B]; ok && found {
			join(i, j)
		}
	}
	var all []*component
	at := map[int]*component{}
	for i, p := range members {
		c := at[sets.Of(i)]
		if c == nil {
			c = &component{s: s, owner: map[*pods]int{}, lists: map[*int32]bool{}}
			at[sets.Of(i)], all = c, append(all, c)
		}
		c.add(p)
	}
	for _, c := range all {
		c.close(failed)
	}
	// DaemonSets that do not all fit on nodes that nothing else may use are a component of their own.
	rest := &component{s: s, owner: map[*pods]int{}}
	for _, d := range failed {
		if !slices.ContainsFunc(all, func(c *component) bool { return slices.Contains(c.nodes, int32(d.node)) }) {
			rest.nodes = append(rest.nodes, int32(d.node))
		}
	}
	if len(rest.nodes) == 0 {
		return all
	}
	rest.close(failed)
	for _, t := range rest.Tallies {
		rest.Workloads = append(rest.Workloads, t.Workload)
	}
	return append(all, rest)
}

// maxPods is the maximum number of pods in a component.
const maxPods = 50_000

// add adds the pods of a workload.
func (c *component) add(p *pods) {
	w := p.Origin()
	i := len(c.Tallies) - 1 // the parts of a workload follow each other
	if i < 0 || c.Tallies[i].Workload != w {
		i++
		c.Workloads, c.Tallies, c.groups = append(c.Workloads, w), append(c.Tallies, Tally{Workload: w}), append(c.groups, nil)
	}
	c.owner[p] = i
	c.Tallies[i].Pods += p.Count.N
	if c.size += p.Count.N; c.size > maxPods {
		c.Why = model.Reason{Cause: model.BySize}
		return
	}
	for range p.Count.N {
		c.groups[i] = append(c.groups[i], pod{p, -1})
	}
	if len(p.nodes) > 0 && !c.lists[&p.nodes[0]] {
		c.lists[&p.nodes[0]] = true
		c.nodes = append(c.nodes, p.nodes...)
	}
	c.Grows = c.Grows || c.s.m.Eligible(p.Workload).Growable > 0
}

// close finds the nodes of a component whose workloads are known, and the DaemonSet pods that are
// placed anew in each run: all on these nodes, if one of them failed.
func (c *component) close(failed []pod) {
	slices.Sort(c.nodes)
	c.nodes = slices.Compact(c.nodes)
	on := func(n int) bool { _, found := slices.BinarySearch(c.nodes, int32(n)); return found }
	if !slices.ContainsFunc(failed, func(d pod) bool { return on(d.node) }) {
		return
	}
	for _, p := range c.s.all {
		for _, n := range c.nodes {
			if _, ok := p.at[int(n)]; !ok {
				continue
			}
			d := pod{p, int(n)}
			c.daemons = append(c.daemons, d)
			if !slices.Contains(failed, d) {
				c.daemonsIn = append(c.daemonsIn, d)
			}
			if _, known := c.owner[p]; !known {
				c.owner[p] = len(c.Tallies)
				c.Tallies = append(c.Tallies, Tally{Workload: p.Origin()})
			}
			c.Tallies[c.owner[p]].Pods++
		}
	}
}

// simulate makes the runs that the steps suffice for.
func (c *component) simulate(runs int) {
	s := c.s
	start := s.Mark()
	s.m.Run().Within(s.m.Bounds(c.Workloads), func() {
		if c.Why.Given() || c.least()*min(runs, MinRuns) > s.m.Run().Left() {
			return
		}
		others := false
		if c.Why, others = c.unknown(); c.Why.Given() && !others {
			return
		}
		seed := c.seed()
		for c.Runs < runs {
			how, left := c.run(NewDraw(seed, c.Runs))
			c.tally(how, left, s.journal[start:])
			s.Undo(start)
		}
		var worst Tally
		for _, t := range c.Tallies {
			if t.LeftOut > worst.LeftOut && !t.Workload.Kind.PerNode() {
				worst = t
			}
		}
		if worst.LeftOut > 0 {
			_, left := c.run(NewDraw(seed, worst.first))
			c.Stuck = c.stuck(left, worst.Workload)
		}
	})
	s.Undo(start)
	s.forget()
	if c.Runs < min(runs, MinRuns) {
		c.Why = cmp.Or(c.Why, model.Reason{Cause: model.ByBudget})
		c.Runs, c.Tallies, c.Without = 0, nil, 0
	}
	if c.Why.Given() {
		c.Complete, c.Preempts, c.Stuck = 0, 0, nil
		for i, t := range c.Tallies {
			c.Tallies[i] = Tally{Workload: t.Workload, Pods: t.Pods, OneNode: t.OneNode}
		}
		c.Tallies = slices.DeleteFunc(c.Tallies, func(t Tally) bool { return t.Pods == 0 })
	}
}

// least returns a lower bound on the steps of a run: every pod is tried on a number of nodes.
func (c *component) least() (steps int) {
	for _, group := range c.groups { // none is empty yet
		steps += len(group) * max(1, min(len(group[0].nodes), c.s.enough()))
	}
	return steps
}

// unknown returns the reason why nothing can be said of the whole component, or an empty one. It
// leaves out the workloads about which too little is known, and reports whether others are left.
func (c *component) unknown() (why model.Reason, others bool) {
	for _, p := range c.s.all {
		if p.at != nil && slices.ContainsFunc(c.nodes, func(n int32) bool { _, ok := p.at[int(n)]; return ok }) {
			if why = c.s.learn(p); why.Given() {
				return why, false
			}
		}
	}
	for i, group := range c.groups {
		for _, p := range group {
			if doubt := c.s.learn(p.pods); doubt.Given() {
				why = cmp.Or(why, doubt)
				c.groups[i], c.Tallies[i].Pods = nil, 0
				c.Without++
				break
			}
		}
	}
	var top *pods
	for _, pods := range slices.Concat(c.groups, [][]pod{c.daemons}) {
		for _, p := range pods {
			if top == nil {
				top = p.pods
			}
			c.ranked = c.ranked || p.Priority.Value != top.Priority.Value
			if !(p.Priority.Known && top.Priority.Known) && p.Spec.PriorityClassName != top.Spec.PriorityClassName {
				return model.Reason{Cause: model.ByPriority, Workload: p.Origin()}, false
			}
		}
	}
	return why, c.Without < len(c.groups)
}

// seed is the text from which the runs are drawn: workloads with their numbers of pods, and nodes.
func (c *component) seed() string {
	var b strings.Builder
	for _, t := range c.Tallies {
		fmt.Fprintf(&b, "%s %d\n", t.Workload, t.Pods)
	}
	names := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		names[i] = c.s.nodes[n].Name
	}
	slices.Sort(names)
	return b.String() + strings.Join(names, "\n")
}

// run makes one run. It returns how the run ends and the pods that are left out.
func (c *component) run(d *Draw) (end, []pod) {
	s := c.s
	s.next = d.below(len(s.nodes))
	for _, p := range c.daemonsIn {
		s.move(p.pods, p.node, -1)
	}
	return c.fill(c.queue(d), d)
}

// fill places pods in order, again and again as long as that helps. It returns those that are left
// out. It stops where one of them could preempt others.
func (c *component) fill(queue []pod, d *Draw) (end, []pod) {
	s := c.s
	tried := map[*pods]int{} // how many pods were in place when a pod found no node
	for moved := true; moved && len(queue) > 0; {
		moved = false
		s.m.Run().Spend(len(queue))
		var left []pod
		for _, p := range queue {
			switch at, known := tried[p.pods]; {
			case known && at == len(s.journal) && p.node < 0: // nothing has changed since
				left = append(left, p)
			case c.place(p, d):
				moved = true
			case s.preempts(p):
				return preempts, nil
			default:
				tried[p.pods] = len(s.journal)
				left = append(left, p)
			}
		}
		queue = left
	}
	if len(queue) > 0 {
		return leftOut, queue
	}
	return complete, nil
}

// stuck describes a run that left out pods, with those of w first.
func (c *component) stuck(left []pod, w *workload.Workload) *certificate.Stuck {
	out := &certificate.Stuck{}
	for _, j := range c.s.journal {
		at := certificate.Placed{Workload: j.p.Workload, Node: c.s.nodes[j.node]}
		if j.by > 0 {
			out.Placements = append(out.Placements, at)
		} else {
			out.Placements = without(out.Placements, at)
		}
	}
	for _, p := range left {
		i := slices.IndexFunc(out.Pending, func(o certificate.Pending) bool { return o.Workload == p.Workload })
		if i < 0 {
			i = len(out.Pending)
			out.Pending = append(out.Pending, certificate.Pending{Workload: p.Workload})
		}
		out.Pending[i].Count++
	}
	sorting.Stable(out.Pending, func(a, b certificate.Pending) int { return b.Count - a.Count })
	i := slices.IndexFunc(out.Pending, func(p certificate.Pending) bool { return c.s.of[p.Workload].Origin() == w })
	out.Pending[0], out.Pending[i] = out.Pending[i], out.Pending[0]
	return out
}

// place places a pod where the scheduler would, and reports whether a node takes it.
func (c *component) place(p pod, d *Draw) bool {
	if p.node < 0 {
		_, ok := c.s.Place(p.Workload, d)
		return ok
	}
	if c.s.closed[p.node] || !c.s.board.Takes(p.unit(p.node), p.node) {
		return false
	}
	c.s.move(p.pods, p.node, 1)
	return true
}

// queue draws the order in which the pods of a run are placed. DaemonSet pods come first. Pods of
// equal priority come workload by workload in one half of the runs, as from an installation that
// takes its time, and in any order in the other half.
func (c *component) queue(d *Draw) []pod {
	daemons := slices.Clone(c.daemons)
	shuffle(d, daemons)
	slices.SortStableFunc(daemons, byPriority)
	groups := slices.Clone(c.groups)
	shuffle(d, groups)
	queue := slices.Concat(groups...)
	if d.below(2) == 0 {
		shuffle(d, queue)
		// The pods of a workload are created in their order, which matters to those that wait for
		// the one before them (R-W11).
		made := make([]int, len(c.groups))
		for i, p := range queue {
			k := c.owner[p.pods]
			queue[i] = c.groups[k][made[k]]
			made[k]++
		}
	}
	if c.ranked {
		slices.SortStableFunc(queue, byPriority)
	}
	return append(daemons, queue...)
}

// preempts reports whether a pod that found no node could preempt pods of lower priority on one
// (R-Q6).
func (s *State) preempts(p pod) bool {
	// Most often all pods have one priority, and looking for victims on every node in vain takes longer
	// than all the rest of a run.
	if p.Priority.Waits || p.Spec.NodeName != "" || !slices.ContainsFunc(s.ranks, p.MayPreempt) {
		return false
	}
	nodes := p.nodes
	if p.node >= 0 {
		nodes = []int32{int32(p.node)}
	}
	start := s.Mark()
	var victims []*pods
	for _, n := range nodes {
		if s.closed[n] {
			continue
		}
		victims = victims[:0]
		for _, o := range s.on[n] {
			if p.MayPreempt(o.Workload) {
				victims = append(victims, o)
			}
		}
		if len(victims) == 0 {
			continue
		}
		for _, o := range victims {
			s.move(o, int(n), -1)
		}
		takes := s.board.Takes(p.unit(int(n)), int(n))
		s.Undo(start)
		if takes {
			return true
		}
	}
	return false
}

// tally counts a run that ends in some way, leaves pods out and has placed others as the journal
// says.
func (c *component) tally(how end, left []pod, journal []change) {
	c.Runs, c.ends = c.Runs+1, append(c.ends, how)
	switch how {
	case complete:
		c.Complete++
	case preempts:
		c.Preempts++
		return
	}
	type place struct{ owner, node int }
	missing, here, most := make([]int, len(c.Tallies)), map[place]int{}, make([]int, len(c.Tallies))
	for _, p := range left {
		missing[c.owner[p.pods]]++
	}
	for _, j := range journal {
		if i, ok := c.owner[j.p]; ok && j.p.at == nil {
			at := place{i, j.node}
			here[at] += j.by
			most[i] = max(most[i], here[at])
		}
	}
	for i := range c.Tallies {
		t := &c.Tallies[i]
		t.Missing, t.Most = max(t.Missing, missing[i]), max(t.Most, most[i])
		if missing[i] > 0 {
			if t.LeftOut++; t.LeftOut == 1 {
				t.first = c.Runs - 1
			}
		}
		if most[i] > 1 && most[i] == t.Pods {
			t.OneNode++
		}
	}
}
