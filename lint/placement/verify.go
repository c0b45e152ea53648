package placement

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// verifier replays runs pod by pod. It shares nothing with the engine but the
// parsed model: terms, who they select, node-level filters, requests, ports. It
// keeps its books by label values, so a run takes time linear in its length.
type verifier struct {
	m *Model
	// here counts the pods of a workload in a domain.
	here map[place3]int
	// total counts the pods of a workload on nodes that carry a key.
	total map[keyOf]int
	// on is what is on each node, nil where nothing is.
	on []*load
	// placed counts the pods of a workload, running those of the model on a node.
	placed  map[*workload.Workload]int
	running map[int]bool
	// contend is unset where pods do not contend for resources.
	contend bool
	// steps is the budget for a component that is explored.
	steps   int
	ledger  *ledger
	sets    map[string]*sited
	sized   map[string][]int
	reached map[*Group][]int
	nested  map[string]bool
	*relations
	// counts is the number of pods that a spread constraint counts in a domain.
	counts map[*Term]map[string]int
	// eligibles are the domains that count for a constraint.
	eligibles map[*Term]map[string]bool
	// absent is set after a loss of nodes.
	absent *absence
}

// load is the pods on one node, what they use and the ports that they take.
type load struct {
	pods  map[*workload.Workload]int
	used  map[corev1.ResourceName]int64
	ports map[HostPort]int
}

// pods is how many pods of a workload are on a node.
func (v *verifier) pods(n int, w *workload.Workload) int {
	if v.on[n] == nil {
		return 0
	}
	return v.on[n].pods[w]
}

// left is what a node has left of a resource, and whether it is judged on it.
func (v *verifier) left(n int, r *Request) (int64, bool) {
	has, judged := offered(v.m.Topology.Nodes[n], r)
	if v.on[n] != nil {
		has -= v.on[n].used[r.Name]
	}
	return has, judged
}

// relations are whom the hard terms of workloads select, and for a workload
// whose anti-affinity selects it and whose spread counts it.
type relations struct {
	selects map[*Term][]*workload.Workload
	// keys are those of all hard terms, in order.
	keys    []string
	against map[*workload.Workload][]against
	watched map[*workload.Workload][]watch
}

type place3 struct {
	w          *workload.Workload
	key, value string
}

type keyOf struct {
	w   *workload.Workload
	key string
}

type against struct {
	w   *workload.Workload
	key string
}

type watch struct {
	g *Group
	t *Term
}

// replay checks a run: every step passes the filters at its time. The error
// says which does not; it is a fault of the engine.
func (m *Model) replay(run []Placed) (*verifier, error) {
	m.run.Spend(stepsPerReplay)
	v := newVerifier(m, true)
	for i, p := range run {
		n, ok := m.indexOf(p.Node.Name)
		if !ok {
			return nil, fmt.Errorf("step %d: node %s is not declared", i, p.Node.Name)
		}
		if g := m.groups[p.Workload]; g.after != nil && v.placed[g.after] == 0 {
			return nil, fmt.Errorf("step %d: the pod before that of %s is not in place", i, p.Workload)
		}
		if why := v.refuses(m.groups[p.Workload], n); why != Takes {
			return nil, fmt.Errorf("step %d: %s refuses %s on %s", i, why, p.Workload, p.Node.Name)
		}
		v.add(m.groups[p.Workload], n)
	}
	return v, nil
}

// verify checks the runs that a decision rests on: a run that is to place all
// pods does, and one that is to be stuck ends where no pending pod fits. It
// fills in why none fits.
func (m *Model) verify(d *Decision) error {
	if _, err := m.replay(d.Witness); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	if complete := d.Verdict == Always || d.Verdict == OrderDependent; complete && len(d.Witness) != d.Total {
		return fmt.Errorf("witness: %d of %d pods are placed, and the verdict is %s", len(d.Witness), d.Total, d.Verdict)
	}
	if d.Verdict == Never && len(d.Witness) == d.Total {
		return fmt.Errorf("witness: all %d pods are placed, and the verdict is %s", d.Total, d.Verdict)
	}
	if d.Stuck == nil {
		return nil
	}
	return m.certify(d.Stuck)
}

// certify checks a run that is to be stuck, and fills in why.
func (m *Model) certify(s *Stuck) error {
	v, err := m.replay(s.Placements)
	if err != nil {
		return fmt.Errorf("stuck run: %w", err)
	}
	for i := range s.Pending {
		p := &s.Pending[i]
		if after := m.groups[p.Workload].after; after != nil && v.placed[after] == 0 {
			continue // it is not even created
		}
		if p.Reasons = v.reasons(m.groups[p.Workload]); p.Reasons[Takes] > 0 {
			return fmt.Errorf("stuck run: %s still fits", p.Workload)
		}
	}
	return nil
}

// reasons counts the nodes by why they do not take one more pod. The pods of a
// DaemonSet that are there already do not wait for their node.
func (v *verifier) reasons(g *Group) map[Reason]int {
	count := map[Reason]int{}
	for n := range v.m.Topology.Nodes {
		if g.Kind.PerNode() && v.pods(n, g.Workload) > 0 {
			continue
		}
		count[v.refuses(g, n)]++
	}
	return count
}

func newVerifier(m *Model, contend bool) *verifier { return newVerifierAfter(nil, m, contend) }

// newVerifierAfter keeps the books after a loss of nodes, if there was one.
func newVerifierAfter(lost *absence, m *Model, contend bool) *verifier {
	v := &verifier{
		absent: lost, steps: checkSteps,
		m: m, relations: m.related(), contend: contend, on: make([]*load, len(m.Topology.Nodes)), here: map[place3]int{}, total: map[keyOf]int{},
		placed: map[*workload.Workload]int{}, running: map[int]bool{}, sets: map[string]*sited{}, sized: map[string][]int{},
		reached: map[*Group][]int{}, nested: map[string]bool{}, counts: map[*Term]map[string]int{}, eligibles: map[*Term]map[string]bool{},
	}
	for _, w := range m.Workloads {
		if g := m.groups[w]; w.Running && Modelled(g) {
			if n, ok := m.indexOf(w.Spec.NodeName); ok {
				v.survive(g, n)
				v.running[n] = true
			}
		}
	}
	return v
}

// related finds out who selects whom, once for all checks.
func (m *Model) related() *relations {
	return Keep(m, func() *relations {
		all := &relations{selects: map[*Term][]*workload.Workload{}, against: map[*workload.Workload][]against{}, watched: map[*workload.Workload][]watch{}}
		for _, w := range m.Workloads {
			if g := m.groups[w]; m.present(g) {
				all.learn(m, g)
			}
		}
		all.learnApart(m)
		slices.Sort(all.keys)
		all.keys = slices.Compact(all.keys)
		return all
	})
}

// maySelect tells whether a term selects pods of a group at some node at least that
// takes one of them when it is empty.
func (m *Model) maySelect(t *Term, g, o *Group) bool {
	if !t.sel.local() {
		return m.selects(t, g.Workload, o.Workload, asks{incoming: true})
	}
	for n, p := range m.Eligible(o.Workload).Nodes {
		node := m.Topology.Nodes[n]
		if (o.Running && p.Name || p.All() && holds(node, o)) && m.selects(t, g.Workload, o.Workload, asks{incoming: true, at: node}) {
			return true
		}
	}
	return false
}

// learn notes whom the hard terms of a group select.
func (v *relations) learn(m *Model, g *Group) {
	for _, t := range g.Terms {
		if !t.Hard {
			continue
		}
		v.keys = append(v.keys, t.Key)
		m.run.Spend(stepsPerTerm)
		for _, list := range m.index.candidates(t, g.Workload) {
			for _, o := range list {
				if !m.present(m.groups[o]) {
					continue
				}
				if m.maySelect(t, g, m.groups[o]) {
					v.selects[t] = append(v.selects[t], o)
					if t.Use == Spread {
						v.watched[o] = append(v.watched[o], watch{g, t})
					}
				}
				if t.Use == AntiAffinity && m.selects(t, g.Workload, o, asks{}) {
					v.against[o] = append(v.against[o], against{g.Workload, t.Key})
				}
			}
		}
	}
}

// add enters a pod into the books, remove takes it out again.
func (v *verifier) add(g *Group, n int)    { v.enter(g, n, 1) }
func (v *verifier) remove(g *Group, n int) { v.enter(g, n, -1) }

func (v *verifier) enter(g *Group, n, by int) {
	v.book(g, n, by)
	v.tally(g, n, by)
}

// book enters a pod for everything but spread constraints.
func (v *verifier) book(g *Group, n, by int) {
	node := v.m.Topology.Nodes[n]
	v.m.run.Spend(1 + len(v.keys) + (len(g.Requests)+len(g.HostPorts))/2)
	for _, key := range v.keys {
		if value, ok := node.Labels[key]; ok {
			v.here[place3{g.Workload, key, value}] += by
			v.total[keyOf{g.Workload, key}] += by
		}
	}
	v.placed[g.Workload] += by
	on := v.on[n]
	if on == nil {
		on = &load{pods: map[*workload.Workload]int{}, used: map[corev1.ResourceName]int64{}, ports: map[HostPort]int{}}
		v.on[n] = on
	}
	on.pods[g.Workload] += by
	on.used[corev1.ResourcePods] += int64(by)
	for _, r := range g.Requests {
		on.used[r.Name] += r.Amount * int64(by)
	}
	for _, p := range g.HostPorts {
		on.ports[p] += by
	}
}

// tally enters a pod for the spread constraints that count it.
func (v *verifier) tally(g *Group, n, by int) {
	node := v.m.Topology.Nodes[n]
	for _, s := range v.watched[g.Workload] {
		if g.Terminating() || pinnedSpread(s.g, s.t) || s.t.sel.form != FormSet || !v.counted(s.g, s.t, n, n) || !v.m.selects(s.t, s.g.Workload, g.Workload, asks{incoming: true, at: node}) {
			continue
		}
		if v.counts[s.t] == nil {
			v.counts[s.t] = map[string]int{}
		}
		v.counts[s.t][node.Labels[s.t.Key]] += by
	}
}

// learnApart is addApart for the checker.
func (v *relations) learnApart(m *Model) {
	for _, p := range m.apart {
		v.keys = append(v.keys, p.Key)
		m.number()
		for _, i := range m.standFor[p.A] {
			for _, j := range m.standFor[p.B] {
				x, y := m.Workloads[i], m.Workloads[j]
				v.against[x] = append(v.against[x], against{y, p.Key})
				v.against[y] = append(v.against[y], against{x, p.Key})
			}
		}
	}
}
