package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// verifier replays runs pod by pod. It shares nothing with the engine but the
// parsed model: terms, who they select, node-level filters, requests, ports. It
// keeps its books by label values, so a run takes time linear in its length.
type verifier struct {
	m *model.Model
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
	reached map[*model.Group][]int
	nested  map[string]bool
	*relations
	// counts is the number of pods that a spread constraint counts in a domain.
	counts map[*model.Term]map[string]int
	// eligibles are the domains that count for a constraint.
	eligibles map[*model.Term]map[string]bool
	// absent is set after a loss of nodes.
	absent *absence
}

// load is the pods on one node, what they use and the ports that they take.
type load struct {
	pods  map[*workload.Workload]int
	used  map[corev1.ResourceName]int64
	ports map[model.HostPort]int
}

// pods is how many pods of a workload are on a node.
func (v *verifier) pods(n int, w *workload.Workload) int {
	if v.on[n] == nil {
		return 0
	}
	return v.on[n].pods[w]
}

// left is what a node has left of a resource, and whether it is judged on it.
func (v *verifier) left(n int, r *model.Request) (int64, bool) {
	has, judged := model.Offered(v.m.Topology.Nodes[n], r)
	if v.on[n] != nil {
		has -= v.on[n].used[r.Name]
	}
	return has, judged
}

// relations are whom the hard terms of workloads select, and for a workload
// whose anti-affinity selects it and whose spread counts it.
type relations struct {
	selects map[*model.Term][]*workload.Workload
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
	g *model.Group
	t *model.Term
}

// replay checks a run: every step passes the filters at its time. The error
// says which does not; it is a fault of the engine.
func replay(m *model.Model, run []certificate.Placed) (*verifier, error) {
	m.Run().Spend(model.StepsPerReplay)
	v := newVerifier(m, true)
	for i, p := range run {
		n, ok := m.IndexOf(p.Node.Name)
		if !ok {
			return nil, fmt.Errorf("step %d: node %s is not declared", i, p.Node.Name)
		}
		if g := m.Groups[p.Workload]; g.After != nil && v.placed[g.After] == 0 {
			return nil, fmt.Errorf("step %d: the pod before that of %s is not in place", i, p.Workload)
		}
		if why := v.refuses(m.Groups[p.Workload], n); why != certificate.Takes {
			return nil, fmt.Errorf("step %d: %s refuses %s on %s", i, why, p.Workload, p.Node.Name)
		}
		v.add(m.Groups[p.Workload], n)
	}
	return v, nil
}

// verify checks the runs that a decision rests on: a run that is to place all
// pods does, and one that is to be stuck ends where no pending pod fits. It
// fills in why none fits.
func verify(m *model.Model, d *certificate.Decision) error {
	if _, err := replay(m, d.Witness); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	if complete := d.Verdict == diag.Always || d.Verdict == diag.Sometimes; complete && len(d.Witness) != d.Total {
		return fmt.Errorf("witness: %d of %d pods are placed, and the verdict is %s", len(d.Witness), d.Total, d.Verdict)
	}
	if d.Verdict == diag.Never && len(d.Witness) == d.Total {
		return fmt.Errorf("witness: all %d pods are placed, and the verdict is %s", d.Total, d.Verdict)
	}
	if d.Stuck == nil {
		return nil
	}
	return certify(m, d.Stuck)
}

// certify checks a run that is to be stuck, and fills in why.
func certify(m *model.Model, s *certificate.Stuck) error {
	v, err := replay(m, s.Placements)
	if err != nil {
		return fmt.Errorf("stuck run: %w", err)
	}
	for i := range s.Pending {
		p := &s.Pending[i]
		if after := m.Groups[p.Workload].After; after != nil && v.placed[after] == 0 {
			continue // it is not even created
		}
		if p.Reasons = v.reasons(m.Groups[p.Workload]); p.Reasons[certificate.Takes] > 0 {
			return fmt.Errorf("stuck run: %s still fits", p.Workload)
		}
	}
	return nil
}

// reasons counts the nodes by why they do not take one more pod. The pods of a
// DaemonSet that are there already do not wait for their node.
func (v *verifier) reasons(g *model.Group) map[certificate.Reason]int {
	count := map[certificate.Reason]int{}
	for n := range v.m.Topology.Nodes {
		if g.Kind.PerNode() && v.pods(n, g.Workload) > 0 {
			continue
		}
		count[v.refuses(g, n)]++
	}
	return count
}

func newVerifier(m *model.Model, contend bool) *verifier { return newVerifierAfter(nil, m, contend) }

// newVerifierAfter keeps the books after a loss of nodes, if there was one.
func newVerifierAfter(lost *absence, m *model.Model, contend bool) *verifier {
	v := &verifier{
		absent: lost, steps: certificate.CheckSteps,
		m: m, relations: related(m), contend: contend, on: make([]*load, len(m.Topology.Nodes)), here: map[place3]int{}, total: map[keyOf]int{},
		placed: map[*workload.Workload]int{}, running: map[int]bool{}, sets: map[string]*sited{}, sized: map[string][]int{},
		reached: map[*model.Group][]int{}, nested: map[string]bool{}, counts: map[*model.Term]map[string]int{}, eligibles: map[*model.Term]map[string]bool{},
	}
	for _, w := range m.Workloads {
		if g := m.Groups[w]; w.Running && model.Modelled(g) {
			if n, ok := m.IndexOf(w.Spec.NodeName); ok {
				v.survive(g, n)
				v.running[n] = true
			}
		}
	}
	return v
}

// related finds out who selects whom, once for all checks.
func related(m *model.Model) *relations {
	return model.Keep(m, func() *relations {
		all := &relations{selects: map[*model.Term][]*workload.Workload{}, against: map[*workload.Workload][]against{}, watched: map[*workload.Workload][]watch{}}
		for _, w := range m.Workloads {
			if g := m.Groups[w]; m.Present(g) {
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
func maySelect(m *model.Model, t *model.Term, g, o *model.Group) bool {
	if !t.Sel.Local() {
		return m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true})
	}
	for n, p := range m.Eligible(o.Workload).Nodes {
		node := m.Topology.Nodes[n]
		if (o.Running && p.Name || p.All() && model.Holds(node, o)) && m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: node}) {
			return true
		}
	}
	return false
}

// learn notes whom the hard terms of a group select.
func (v *relations) learn(m *model.Model, g *model.Group) {
	for _, t := range g.Terms {
		if !t.Hard {
			continue
		}
		v.keys = append(v.keys, t.Key)
		m.Run().Spend(model.StepsPerTerm)
		for _, list := range m.Index.Candidates(t, g.Workload) {
			for _, o := range list {
				if !m.Present(m.Groups[o]) {
					continue
				}
				if maySelect(m, t, g, m.Groups[o]) {
					v.selects[t] = append(v.selects[t], o)
					if t.Use == model.Spread {
						v.watched[o] = append(v.watched[o], watch{g, t})
					}
				}
				if t.Use == model.AntiAffinity && m.Selects(t, g.Workload, o, model.Asks{}) {
					v.against[o] = append(v.against[o], against{g.Workload, t.Key})
				}
			}
		}
	}
}

// add enters a pod into the books, remove takes it out again.
func (v *verifier) add(g *model.Group, n int)    { v.enter(g, n, 1) }
func (v *verifier) remove(g *model.Group, n int) { v.enter(g, n, -1) }

func (v *verifier) enter(g *model.Group, n, by int) {
	v.book(g, n, by)
	v.tally(g, n, by)
}

// book enters a pod for everything but spread constraints.
func (v *verifier) book(g *model.Group, n, by int) {
	node := v.m.Topology.Nodes[n]
	v.m.Run().Spend(1 + len(v.keys) + (len(g.Requests)+len(g.HostPorts))/2)
	for _, key := range v.keys {
		if value, ok := node.Labels[key]; ok {
			v.here[place3{g.Workload, key, value}] += by
			v.total[keyOf{g.Workload, key}] += by
		}
	}
	v.placed[g.Workload] += by
	on := v.on[n]
	if on == nil {
		on = &load{pods: map[*workload.Workload]int{}, used: map[corev1.ResourceName]int64{}, ports: map[model.HostPort]int{}}
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
func (v *verifier) tally(g *model.Group, n, by int) {
	node := v.m.Topology.Nodes[n]
	for _, s := range v.watched[g.Workload] {
		if g.Terminating() || pinnedSpread(s.g, s.t) || s.t.Sel.Form != model.FormSet || !v.counted(s.g, s.t, n, n) || !v.m.Selects(s.t, s.g.Workload, g.Workload, model.Asks{Incoming: true, At: node}) {
			continue
		}
		if v.counts[s.t] == nil {
			v.counts[s.t] = map[string]int{}
		}
		v.counts[s.t][node.Labels[s.t.Key]] += by
	}
}

// learnApart is addApart for the checker.
func (v *relations) learnApart(m *model.Model) {
	for _, p := range m.Apart {
		v.keys = append(v.keys, p.Key)
		m.Number()
		for _, i := range m.StandFor[p.A] {
			for _, j := range m.StandFor[p.B] {
				x, y := m.Workloads[i], m.Workloads[j]
				v.against[x] = append(v.against[x], against{y, p.Key})
				v.against[y] = append(v.against[y], against{x, p.Key})
			}
		}
	}
}
