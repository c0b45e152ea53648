package search

import (
	"encoding/binary"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// binds reports whether any resource can run out.
func (s interactions) binds() bool {
	all, _ := s.askersOf()
	return slices.Contains(s.shortagesOf(all), true)
}

// component is a set of pod groups that interact.
type component struct {
	units []int
	pods  int
	// owners lists the workloads that own the pod groups. owner maps each pod group to an index in
	// owners. Each pod of a DaemonSet is a pod group with the same owner.
	owners []*workload.Workload
	owner  []int
	at     map[*workload.Workload]int // indices in owners
	// declared is each owner's declared pod count.
	declared []int
	// unsure is set if a rule in the component depends on facts that only the cluster knows.
	unsure bool
}

func (c *component) add(i int, u *podGroup) {
	owner := u.g.Origin()
	if c.at == nil {
		c.at = map[*workload.Workload]int{}
	}
	at := lazy.Cached(c.at, owner, func() int {
		c.owners, c.declared = append(c.owners, owner), append(c.declared, 0)
		return len(c.owners) - 1
	})
	c.declared[at] += u.pods
	c.units, c.owner = append(c.units, i), append(c.owner, at)
	c.pods += u.pods
}

// interactions finds the pod groups that interact.
type interactions struct{ *state }

// components divides the pod groups into components. Two pod groups are in the same component if a
// rule of one selects the other, or if they use the same host port. They are also in the same
// component if they may fill a node together.
func (s interactions) components() []component {
	sets := model.NewSets(len(s.units))
	join := sets.Join
	for i, u := range s.units {
		s.m.Run().Spend(1 + len(u.exclusions)/2)
		for _, x := range u.exclusions {
			join(i, x.unit)
		}
		for _, j := range u.unsure {
			join(i, j)
		}
		for _, j := range u.peers {
			join(i, j.unit)
		}
		for _, c := range u.spreads {
			for _, j := range c.watch {
				join(i, j.unit)
			}
		}
		if u.createdAfter != nil {
			join(i, s.unitsOf[u.createdAfter.g.Workload][0])
		}
	}
	first := slices.Repeat([]int{-1}, len(s.hostPorts)) // for each host port, the first pod group that the port keeps off a node
	for i, u := range s.units {
		for _, p := range u.clashes {
			if first[p] < 0 {
				first[p] = i
			}
			join(first[p], i)
		}
	}
	if s.contend {
		s.joinContending(join)
	}
	by := map[int]int{}
	unsure := map[int]bool{}
	for i, u := range s.units {
		if len(u.unsure) > 0 || u.open {
			unsure[sets.Of(i)] = true
		}
	}
	var all []component
	for i, u := range s.units {
		if u.g.Running {
			continue
		}
		root := sets.Of(i)
		at, ok := by[root]
		if !ok {
			at = len(all)
			by[root] = at
			all = append(all, component{unsure: unsure[root]})
		}
		all[at].add(i, u)
	}
	return all
}

// askers is a set of pod groups that may use the same nodes and request the same resources.
type askers struct {
	nodes *nodeSet
	asks  []int // requested resources, in order
	units []int
}

// askersOf groups pod groups by node set and requested resources. It omits running pod groups and
// groups that are never placed. nodes is the total size of the node sets.
func (s interactions) askersOf() (all []*askers, nodes int) {
	type key struct {
		nodes *nodeSet
		asks  string
	}
	at := map[key]*askers{}
	var asks []int
	var text []byte
	for i, u := range s.units {
		if u.g.Running || s.unplaceable[i] || len(u.nodes.list) == 0 {
			continue
		}
		asks, text = asks[:0], text[:0]
		for r, ask := range u.ask {
			if ask > 0 {
				asks, text = append(asks, r), binary.AppendUvarint(text, uint64(r))
			}
		}
		same := at[key{u.nodes, string(text)}]
		if same == nil {
			same = &askers{nodes: u.nodes, asks: slices.Clone(asks)}
			at[key{u.nodes, string(text)}] = same
			all, nodes = append(all, same), nodes+len(u.nodes.list)
		}
		same.units = append(same.units, i)
	}
	s.m.Run().Spend(len(s.units)*(1+len(s.resources)/model.PerStep) + nodes*(1+len(s.resources))/(4*model.PerStep))
	return all, nodes
}

// joinContending joins pod groups that request the same resource on a node. The resource must be
// able to run out when all of their pods are on the node.
func (s interactions) joinContending(join func(i, j int)) {
	all, nodes := s.askersOf()
	s.m.Run().Spend(len(s.units) + nodes/(2*model.PerStep))
	short := s.shortagesOf(all)
	first := slices.Repeat([]int{-1}, len(s.nodes))
	for _, same := range all {
		contend := false
		for _, n := range same.nodes.list {
			here := short[int(n)*len(s.resources):]
			if !slices.ContainsFunc(same.asks, func(r int) bool { return here[r] }) {
				continue
			}
			// One resource that can run out is enough to connect all pod groups on the node.
			contend = true
			if first[n] < 0 {
				first[n] = same.units[0]
			}
			join(first[n], same.units[0])
		}
		if contend {
			for _, i := range same.units[1:] {
				join(same.units[0], i)
			}
		}
	}
}

// shortagesOf reports, for each node and resource, whether the resource could run out. It assumes
// that all pods that may use the node are on it.
func (s interactions) shortagesOf(all []*askers) []bool {
	width := len(s.resources)
	demand := make([]int64, len(s.free))
	for _, same := range all {
		for _, r := range same.asks {
			sum := int64(0)
			for _, i := range same.units {
				sum = classes.Sum(sum, s.units[i].ask[r], s.units[i].pods)
			}
			for _, n := range same.nodes.list {
				demand[int(n)*width+r] = classes.Sum(demand[int(n)*width+r], sum, 1)
			}
		}
	}
	short := make([]bool, len(s.free))
	for i, d := range demand {
		short[i] = d > s.free[i]
	}
	return short
}

// Conflict describes workloads that conflict, although each of them can be placed without the
// others. In some conflicts, no run places all of their pods. In others, only the right scheduling
// order places them all.
type Conflict struct {
	// Workloads lists the conflicting workloads in input order.
	Workloads []*workload.Workload
	// Pods is the total pod count of Workloads. Most is the largest number of these pods that one
	// run places. Core explains why. They are not set if some run places all of them.
	Pods, Most int
	Core       *Core
	// Stuck is a run after which pods of the first pending workload fit nowhere. It omits unneeded
	// placements.
	Stuck *certificate.Stuck
}

// Orders finds workloads whose hard rules allow all pods only in the right scheduling order, as a decision
// about all workloads says. It skips faulty workloads and the workloads that interact with them. It also
// skips workloads that depend on unknown labels and namespaces.
func Orders(m *model.Model, d *certificate.Decision, faulty map[*workload.Workload]bool) (all []Conflict) {
	m = m.Permanent()
	ruled, single := map[*workload.Workload]bool{}, map[*workload.Workload]bool{}
	for i := range d.Workloads {
		switch w := &d.Workloads[i]; {
		case w.RulesVerdict == diag.Sometimes && (w.Verdict == diag.Sometimes || w.Verdict == diag.Unknown):
			ruled[w.Workload] = true
		case w.Verdict == diag.Sometimes && !w.Workload.Finite() && risky(m, m.Groups[w.Workload]):
			single[w.Workload] = true
		}
	}
	if len(ruled)+len(single) == 0 {
		return nil
	}
	if m.Run().Within(m.Altogether(), func() {
		parts := m.Split()
		for _, c := range (interactions{newState(parts, false, nil)}).components() {
			open := func(w *workload.Workload) bool { return ruled[w] || single[w] && len(c.owners) == 1 }
			if c.unsure || !slices.ContainsFunc(c.owners, open) || slices.ContainsFunc(c.owners, func(w *workload.Workload) bool { return faulty[w] }) {
				continue
			}
			certificate.CheckerOf(parts).Prepare(parts) // done once for all components, outside their budgets
			m.Ask(c.owners, TogetherQuestion, m.Bounds(c.owners), func() {
				if conflict, ok := stuckRun(m, c.owners); ok {
					all = append(all, conflict)
				}
			})
		}
	}) {
		return all
	}
	m.Run().GiveUp(m.Workloads, TogetherQuestion)
	return nil
}

// TogetherQuestion describes the question that Orders answers, for messages about an exhausted
// budget.
const TogetherQuestion = "whether workloads can be scheduled together"

// risky reports whether a single workload may get stuck in one run but not in another. This is
// possible with affinity between its pods, with several spread constraints, or with a combination
// of spread and anti-affinity.
func risky(m *model.Model, g *model.Group) bool {
	near, spreads, apart := 0, 0, map[string]bool{}
	for _, t := range g.Terms {
		switch {
		case !t.Hard || m.Peer(t, g.Workload, g.Workload) != model.Yes:
		case t.Use == model.Affinity:
			near++
		case t.Use == model.Spread:
			spreads++
		default:
			apart[t.Key] = true
		}
	}
	return near > 0 || spreads > 1 || spreads+len(apart) > 1
}

// stuckRun finds a run after which some of a component's pods fit nowhere, although another run
// places all of them. It counts resources, because a run that exceeds the nodes' resources is
// impossible.
func stuckRun(m *model.Model, owners []*workload.Workload) (Conflict, bool) {
	d := decideInstance(newState(m.Split(), true, newRelaxation(lists.Set(owners))), Options{Steps: coreSteps}, false)
	if d.whole() != diag.Sometimes {
		return Conflict{}, false
	}
	stuck := d.stuck()
	sorting.Stable(stuck.Pending, func(a, b certificate.Pending) int { return b.Count - a.Count })
	return StuckRun(m, owners, stuck)
}

// StuckRun returns what a stuck run of the split model shows about some workloads of a model. It
// returns false if a pool may grow for the first pending workload, or if the checker rejects the run.
func StuckRun(m *model.Model, owners []*workload.Workload, stuck *certificate.Stuck) (c Conflict, ok bool) {
	parts := m.Split()
	blocked := parts.Groups[stuck.Pending[0].Workload]
	if m.Eligible(blocked.Origin()).Growable > 0 { // a pool may grow to make room for the blocked pods
		return c, false
	}
	if err := certificate.CheckerOf(parts).Certify(parts, stuck); err != nil {
		m.Run().Refuse(owners, err)
		return c, false
	}
	// If nodes that reject a blocked pod keep rejecting it as more pods arrive, drop every
	// placement that is not needed. After the remaining run, no node may accept the pod.
	hereditary := !slices.ContainsFunc(blocked.Terms, func(t *model.Term) bool { return t.Hard && t.Use != model.AntiAffinity })
	if run := stuck.Placements; hereditary && len(run) <= maxShrink {
		for i := len(run) - 1; i >= 0; i-- {
			if less := slices.Delete(slices.Clone(run), i, i+1); certificate.CheckerOf(parts).Blocks(parts, less, blocked) {
				run = less
			}
		}
		stuck.Placements = run
	}
	c = Conflict{Workloads: owners, Stuck: stuck}
	for i := range stuck.Placements {
		stuck.Placements[i].Workload = parts.Groups[stuck.Placements[i].Workload].Origin()
	}
	for i := range stuck.Pending {
		stuck.Pending[i].Workload = parts.Groups[stuck.Pending[i].Workload].Origin()
	}
	return c, true
}

// maxShrink is the maximum length of a run that is minimized.
const maxShrink = 200

// Nodes returns a run's workloads in order, and the nodes where each workload's pods are placed.
func Nodes(s *certificate.Stuck) (ws []*workload.Workload, on map[*workload.Workload][]*topology.Node) {
	on = map[*workload.Workload][]*topology.Node{}
	for _, p := range s.Placements {
		if on[p.Workload] == nil {
			ws = append(ws, p.Workload)
		}
		on[p.Workload] = append(on[p.Workload], p.Node)
	}
	return ws, on
}

// fewest removes workloads as long as the remaining ones cannot be placed together. It removes many
// at a time if possible. It keeps a workload if an affinity term or spread constraint of another
// workload selects its pods, because without these pods, others might be harder to place.
func (q question) fewest(relax *relaxation, owners []*workload.Workload) (*relaxation, bool) {
	checks := 0
	for size := (len(owners) + 1) / 2; ; size = (size + 1) / 2 {
		for from := 0; from < len(owners); from += size {
			less := relax.clone()
			for _, w := range owners[from:min(from+size, len(owners))] {
				less.count[w] = 0
			}
			if checks++; checks > maxChecks {
				return nil, false
			}
			if q.free(less) && q.possible(less) == model.No {
				relax = less
			}
		}
		if size == 1 {
			return relax, true
		}
	}
}

// maxChecks is the maximum number of decisions that minimizing one conflict may take.
const maxChecks = 400
