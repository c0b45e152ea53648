package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Conflict is what becomes of workloads together although each of them could
// be placed if it were alone.
type Conflict struct {
	// Workloads have a part in it, in the order of the input; Among are these and
	// all with which they have to do.
	Workloads, Among []*workload.Workload
	// Pods is how many they have together, and Most how many of them can be
	// placed at most; where Stuck is set all of them can.
	Pods, Most int
	// Core is why no run places all; nil where some run does.
	Core *Core
	// Stuck is a run after which pods of its first pending workload fit nowhere,
	// without the placements that have no part in that.
	Stuck *certificate.Stuck
	// Growth is at which size growing pools were counted; nil if they were not.
	Growth []model.PoolSize
}

// jointSteps bounds each decision that linting takes.
const jointSteps = 400_000

// maxGrowth bounds the further nodes with which conflicts are decided again.
const maxGrowth = 500

// Conflicts decides by the rules alone which workloads cannot be placed
// together, or only if they come in the right order. Workloads that are faulty
// by themselves, and what these have to do with, are passed over; so is what
// depends on pods that end by themselves or on labels and namespaces that are
// not known. That no run places all is said only if that holds whatever pods
// of undeclared workloads may give company, and however far pools grow.
func Conflicts(m *model.Model, faulty map[*workload.Workload]bool) []Conflict {
	return conflicts(m.Permanent(), faulty)
}

func conflicts(m *model.Model, faulty map[*workload.Workload]bool) (all []Conflict) {
	if !m.Run().Within(m.Altogether(), func() { all = among(m, faulty) }) {
		m.Run().GiveUp(m.Workloads, TogetherQuestion)
		return nil
	}
	return all
}

// TogetherQuestion is whether workloads can be placed together, as a question that
// may be given up.
const TogetherQuestion = "whether workloads can be scheduled together"

func among(m *model.Model, faulty map[*workload.Workload]bool) []Conflict {
	scope := scopeOf(m, faulty)
	if scope == nil {
		return nil
	}
	parts := m.Split()
	d := decideInstance(newState(parts, false, scope.relax(scope.all)), Options{Steps: jointSteps})
	var all []Conflict
	for i := range d.outcomes {
		o := &d.outcomes[i]
		if o.spent {
			m.Run().GiveUp(o.owners, TogetherQuestion)
		}
		if !o.decided || slices.ContainsFunc(o.owners, func(w *workload.Workload) bool { return scope.doubtful[w] }) {
			continue
		}
		if !o.always && !o.never {
			certificate.CheckerOf(parts).Prepare(parts) // for all of them, so at the cost of none
		}
		c, ok := Conflict{}, false
		m.Ask(o.owners, TogetherQuestion, m.Bounds(o.owners), func() {
			switch {
			case o.never:
				c, ok = conflictOf(m, scope, o)
			case !o.always || len(o.owners) == 1 && !o.orderless && risky(m, m.Groups[o.owners[0]]):
				c, ok = stuckRun(m, scope, o)
			}
		})
		if ok {
			c.Among = o.owners
			all = append(all, c)
		}
	}
	return all
}

// scope is the workloads that may have to do with one another.
type scope struct {
	all map[*workload.Workload]bool
	// doubtful ones, and what has to do with them, get no verdict.
	doubtful map[*workload.Workload]bool
	// count is how many pods are certain, where that is not the number declared.
	count map[*workload.Workload]int
}

func (s *scope) relax(only map[*workload.Workload]bool) *relaxation {
	r := leaveOut(only)
	r.count = s.count
	return r
}

// scopeOf finds those workloads by their hard rules. It is nil if there are none.
func scopeOf(m *model.Model, faulty map[*workload.Workload]bool) *scope {
	s := &scope{all: map[*workload.Workload]bool{}, doubtful: map[*workload.Workload]bool{}, count: map[*workload.Workload]int{}}
	ports := map[int32]*workload.Workload{}
	for _, w := range m.Workloads {
		g := m.Groups[w]
		if !model.Lasting(g) {
			continue
		}
		if involve(m, s, g) || risky(m, g) {
			s.all[w] = true
		}
		for _, p := range g.HostPorts {
			if other := ports[p.Port]; other != nil && other != w {
				s.all[w], s.all[other] = true, true
			}
			ports[p.Port] = w
		}
	}
	if len(s.all) == 0 {
		return nil
	}
	for w := range s.all {
		s.doubtful[w] = s.doubtful[w] || faulty[w]
		if w.Scale != nil {
			s.count[w] = model.Certain(w)
		}
	}
	return s
}

// involve takes in the workloads that the hard terms of a group select; true
// if there are any.
func involve(m *model.Model, s *scope, g *model.Group) bool {
	found := false
	for _, t := range g.Terms {
		if !t.Hard {
			continue
		}
		if m.Self(t, g.Workload) == model.Maybe {
			s.doubtful[g.Workload] = true
		}
		for _, o := range m.Others(t, g.Workload, true) {
			lasting := model.Lasting(m.Groups[o])
			switch {
			case m.Peer(t, g.Workload, o) == model.Maybe, !lasting && t.Use != model.AntiAffinity && !o.Refused() && !o.Running:
				s.doubtful[g.Workload] = true
			case lasting:
				s.all[o], found = true, true
			}
		}
	}
	return found
}

// risky reports whether a workload alone can get stuck in one run and not in
// another: pods that keep near, several spreads, or spread and anti-affinity.
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

// conflictOf explains why the workloads of a component cannot all be placed.
func conflictOf(m *model.Model, s *scope, o *outcome) (Conflict, bool) {
	group := map[*workload.Workload]bool{}
	for _, w := range o.owners {
		group[w] = true
	}
	relax := s.relax(group)
	spread := false
	for _, w := range o.owners {
		for _, t := range m.Groups[w].Terms {
			relax.terms[t] = t.Use == model.Affinity // whose company may not be declared
			spread = spread || t.Hard && t.Use == model.Spread
		}
	}
	c := Conflict{}
	if m.Topology.Elastic() {
		v := m.Views[len(m.Views)-1]
		if spread || v.Partial || len(v.Nodes)-len(m.Topology.Nodes) > maxGrowth {
			return c, false
		}
		relax.nodes, c.Growth = v.Nodes[len(m.Topology.Nodes):], v.Growth()
	}
	q := question{m: m}
	if q.possible(relax) != model.No {
		return c, false
	}
	relax, ok := q.fewest(relax, o.owners)
	if !ok {
		return c, false
	}
	c.Workloads = relax.remaining(o.owners)
	c.Core = q.core(relax, c.Workloads)
	if c.Core == nil {
		return c, false
	}
	for _, o := range decideInstance(newState(m.Split(), false, relax), Options{Steps: jointSteps}).outcomes {
		c.Pods, c.Most = c.Pods+o.pods, c.Most+o.most
	}
	return c, true
}

// stuckRun finds a run after which pods of a component fit nowhere although
// another run places all, with resources taken into account: a run that they
// do not allow is none.
func stuckRun(m *model.Model, s *scope, o *outcome) (Conflict, bool) {
	group := map[*workload.Workload]bool{}
	for _, w := range o.owners {
		group[w] = true
	}
	parts := m.Split()
	d := decideInstance(newState(parts, true, s.relax(group)), Options{Steps: jointSteps})
	if d.whole() != diag.Sometimes {
		return Conflict{}, false
	}
	stuck := d.stuck()
	slices.SortStableFunc(stuck.Pending, func(a, b certificate.Pending) int { return b.Count - a.Count })
	blocked := parts.Groups[stuck.Pending[0].Workload]
	if m.Eligible(blocked.Origin()).Growable > 0 { // a pool may grow for it
		return Conflict{}, false
	}
	if err := certificate.CheckerOf(parts).Certify(parts, stuck); err != nil {
		m.Run().Refuse(o.owners, err)
		return Conflict{}, false
	}
	if hereditary(blocked) && len(stuck.Placements) <= maxShrink {
		stuck.Placements = shrink(parts, stuck.Placements, blocked)
	}
	c := Conflict{Workloads: o.owners, Pods: o.pods, Most: o.pods, Stuck: stuck}
	for i := range stuck.Placements {
		stuck.Placements[i].Workload = parts.Groups[stuck.Placements[i].Workload].Origin()
	}
	for i := range stuck.Pending {
		stuck.Pending[i].Workload = parts.Groups[stuck.Pending[i].Workload].Origin()
	}
	return c, true
}

// hereditary reports whether what blocks a pod goes on blocking it.
func hereditary(g *model.Group) bool {
	return !slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && t.Use != model.AntiAffinity })
}

// maxShrink bounds the runs that are made smaller.
const maxShrink = 200

// shrink leaves out the placements without which the rest is still a run after
// which no node takes the pod.
func shrink(m *model.Model, run []certificate.Placed, blocked *model.Group) []certificate.Placed {
	for i := len(run) - 1; i >= 0; i-- {
		less := slices.Delete(slices.Clone(run), i, i+1)
		if certificate.CheckerOf(m).Blocks(m, less, blocked) {
			run = less
		}
	}
	return run
}

// Nodes are the nodes on which a run puts pods of each workload, in order.
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

// fewest leaves out workloads, many at a time where that goes, as long as the
// rest cannot be placed together. What others count as company or for their
// spread stays, as they might be worse off without it.
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

// maxChecks bounds the decisions that one conflict takes to become small.
const maxChecks = 400
