package placement

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// verifier replays runs pod by pod. It shares nothing with the engine but the
// parsed model: terms, who they select, node-level filters, requests, ports. It
// keeps its books by label values, so a run takes time linear in its length.
type verifier struct {
	m    *Model
	node map[string]int
	// here counts the pods of a workload in a domain.
	here map[place3]int
	// total counts the pods of a workload on nodes that carry a key.
	total map[keyOf]int
	free  []map[corev1.ResourceName]int64
	ports []map[HostPort]int
	pods  []map[*workload.Workload]int
	// placed counts the pods of a workload, running those of the model on a node.
	placed  map[*workload.Workload]int
	running map[int]bool
	// contend is unset where pods do not contend for resources.
	contend bool
	ledger  *ledger
	sets    map[string]*sited
	sized   map[string][]int
	reached map[*Group][]int
	nested  map[string]bool
	*relations
	// counts is the number of pods that a spread constraint counts in a domain.
	counts map[*Term]map[string]int
}

// relations are whom the hard terms of workloads select, and for a workload
// whose anti-affinity selects it and whose spread counts it.
type relations struct {
	selects map[*Term][]*workload.Workload
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
	v := newVerifier(m, true)
	for i, p := range run {
		n, ok := v.node[p.Node.Name]
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
		if g.Kind.PerNode() && v.pods[n][g.Workload] > 0 {
			continue
		}
		count[v.refuses(g, n)]++
	}
	return count
}

func newVerifier(m *Model, contend bool) *verifier {
	v := &verifier{
		m: m, relations: m.related(), contend: contend, node: map[string]int{}, here: map[place3]int{}, total: map[keyOf]int{},
		placed: map[*workload.Workload]int{}, running: map[int]bool{}, sets: map[string]*sited{}, sized: map[string][]int{}, reached: map[*Group][]int{}, nested: map[string]bool{}, counts: map[*Term]map[string]int{},
	}
	for i, n := range m.Topology.Nodes {
		v.node[n.Name] = i
		free := map[corev1.ResourceName]int64{}
		for name, q := range n.Allocatable {
			free[name] = amount(name, q)
		}
		v.free, v.ports, v.pods = append(v.free, free), append(v.ports, map[HostPort]int{}), append(v.pods, map[*workload.Workload]int{})
	}
	for _, w := range m.Workloads {
		if g := m.groups[w]; w.Running && Modelled(g) {
			if n, ok := v.node[w.Spec.NodeName]; ok {
				v.add(g, n)
				v.running[n] = true
			}
		}
	}
	return v
}

// related finds out who selects whom, once for all checks.
func (m *Model) related() *relations {
	if m.relations == nil {
		m.relations = &relations{selects: map[*Term][]*workload.Workload{}, against: map[*workload.Workload][]against{}, watched: map[*workload.Workload][]watch{}}
		for _, w := range m.Workloads {
			if g := m.groups[w]; m.present(g) {
				m.relations.learn(m, g)
			}
		}
	}
	return m.relations
}

// maySelect tells whether a term selects pods of a group at some node at least.
func (m *Model) maySelect(t *Term, g, o *Group) bool {
	if !t.sel.local() {
		return m.selects(t, g.Workload, o.Workload, asks{incoming: true})
	}
	for n, p := range m.Eligible(o.Workload).Nodes {
		if (p.All() || o.Running && p.Name) && m.selects(t, g.Workload, o.Workload, asks{incoming: true, at: m.Topology.Nodes[n]}) {
			return true
		}
	}
	return false
}

// present reports whether a group has pods at all that take part.
func (m *Model) present(g *Group) bool {
	switch {
	case !Modelled(g):
		return false
	case g.Kind.PerNode():
		return m.Eligible(g.Workload).Count > 0
	}
	return g.Running || g.Count.N > 0
}

// learn notes whom the hard terms of a group select.
func (v *relations) learn(m *Model, g *Group) {
	for _, t := range g.Terms {
		if !t.Hard {
			continue
		}
		for _, list := range m.index.candidates(&t.sel) {
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
	node := v.m.Topology.Nodes[n]
	for key, value := range node.Labels {
		v.here[place3{g.Workload, key, value}] += by
		v.total[keyOf{g.Workload, key}] += by
	}
	v.pods[n][g.Workload] += by
	v.placed[g.Workload] += by
	v.free[n][corev1.ResourcePods] -= int64(by)
	for _, r := range g.Requests {
		v.free[n][r.Name] -= r.Amount * int64(by)
	}
	for _, p := range g.HostPorts {
		v.ports[n][p] += by
	}
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

// refuses applies the filters.
func (v *verifier) refuses(g *Group, n int) Reason {
	node := v.m.Topology.Nodes[n]
	if r := v.m.Eligible(g.Workload).Nodes[n].reason(); r != Takes {
		return r
	}
	for taken, pods := range v.ports[n] {
		for _, p := range g.HostPorts {
			if pods > 0 && p.Conflicts(taken) {
				return RefusedByPort
			}
		}
	}
	if !v.room(g, n) {
		return RefusedByResources
	}
	if g.Spec.NodeName != "" {
		return Takes
	}
	if v.repelled(g, node) {
		return RefusedByAffinity
	}
	for _, t := range g.Terms {
		if t.Hard && t.Use == Spread && !v.even(g, t, n) {
			return RefusedBySpread
		}
	}
	if !v.near(g, node) {
		return RefusedByAffinity
	}
	return Takes
}

// repelled is anti-affinity, that of the pod and that of pods in place.
func (v *verifier) repelled(g *Group, node *topology.Node) bool {
	for _, a := range v.against[g.Workload] {
		if value, ok := node.Labels[a.key]; ok && v.here[place3{a.w, a.key, value}] > 0 {
			return true
		}
	}
	for _, t := range g.Terms {
		if value, ok := node.Labels[t.Key]; ok && t.Hard && t.Use == AntiAffinity && v.any(g, t, value) {
			return true
		}
	}
	return false
}

// any tells whether a pod that a term selects is in a domain.
func (v *verifier) any(g *Group, t *Term, value string) bool {
	for _, w := range v.selects[t] {
		if v.in([]*Term{t}, g, w, t.Key, value) {
			return true
		}
	}
	return false
}

// in tells whether a pod of w that all these terms select is in a domain; those
// that ask for labels of the node select it in some places only.
func (v *verifier) in(terms []*Term, g *Group, w *workload.Workload, key, value string) bool {
	if v.here[place3{w, key, value}] == 0 {
		return false
	}
	if !local(terms) {
		return v.byAll(terms, g, w, nil)
	}
	for n, node := range v.m.Topology.Nodes {
		if here, ok := node.Labels[key]; ok && here == value && v.pods[n][w] > 0 && v.byAll(terms, g, w, node) {
			return true
		}
	}
	return false
}

func (v *verifier) room(g *Group, n int) bool {
	node := v.m.Topology.Nodes[n]
	if !v.contend { // each pod has to fit the empty node
		most, _ := Fits(node, g.Requests)
		return most > 0
	}
	if _, declared := node.Allocatable[corev1.ResourcePods]; declared && v.free[n][corev1.ResourcePods] < 1 {
		return false
	}
	for i := range g.Requests {
		r := &g.Requests[i]
		if _, judged := offered(node, r); judged && v.free[n][r.Name] < r.Amount {
			return false
		}
	}
	return true
}

// near is required affinity: a pod counts if all terms select it.
func (v *verifier) near(g *Group, node *topology.Node) bool {
	hard := g.HardAffinity()
	first, anyone, met := true, false, 0
	for _, t := range hard {
		value, ok := node.Labels[t.Key]
		if !ok {
			return false
		}
		first = first && v.m.selects(t, g.Workload, g.Workload, asks{self: true, incoming: true})
		found := false
		for _, w := range v.selects[t] {
			found = found || v.in(hard, g, w, t.Key, value)
			anyone = anyone || v.total[keyOf{w, t.Key}] > 0 && v.anywhere(hard, g, w, t.Key)
		}
		if found {
			met++
		}
	}
	return met == len(hard) || !anyone && first
}

func (v *verifier) byAll(hard []*Term, g *Group, w *workload.Workload, at *topology.Node) bool {
	for _, t := range hard {
		if !v.m.selects(t, g.Workload, w, asks{incoming: true, at: at}) {
			return false
		}
	}
	return true
}

// anywhere tells whether a pod of w that all terms select is on a node that
// carries the key.
func (v *verifier) anywhere(hard []*Term, g *Group, w *workload.Workload, key string) bool {
	if !local(hard) {
		return v.byAll(hard, g, w, nil)
	}
	for n, node := range v.m.Topology.Nodes {
		if _, ok := node.Labels[key]; ok && v.pods[n][w] > 0 && v.byAll(hard, g, w, node) {
			return true
		}
	}
	return false
}

// counted tells whether the pods on a node count for a constraint of a pod that
// is to go to another one.
func (v *verifier) counted(g *Group, t *Term, n, to int) bool {
	p := v.m.Eligible(g.Workload).Nodes[n]
	switch {
	case !carries(v.m.Topology.Nodes[n].Labels, hardKeys(g)):
		return false
	case t.honorsTaints() && !p.Taints:
		return false
	case t.honorsAffinity():
		return p.Selector && (!g.Kind.PerNode() || n == to)
	}
	return true
}

// even is the skew of one constraint.
func (v *verifier) even(g *Group, t *Term, n int) bool {
	node := v.m.Topology.Nodes[n]
	if !carries(node.Labels, hardKeys(g)) {
		return false
	}
	counts, domains := v.counts[t], v.eligible(g, t, n)
	if pinnedSpread(g, t) {
		counts = map[string]int{node.Labels[t.Key]: v.onNode(g, t, n)}
	}
	smallest := 0
	if len(domains) > 0 && len(domains) >= t.MinDomains() {
		smallest = Unbounded
		for value := range domains {
			smallest = min(smallest, counts[value])
		}
	}
	self := 0
	if t.sel.form == FormEmpty || v.m.selects(t, g.Workload, g.Workload, asks{self: true, incoming: true}) {
		self = 1
	}
	return counts[node.Labels[t.Key]]+self-smallest <= int(t.Constraint.MaxSkew)
}

// pinnedSpread reports whether a constraint counts on the pod's own node alone:
// a DaemonSet's pods are pinned by node affinity, which it honours (R-N31).
func pinnedSpread(g *Group, t *Term) bool {
	return g.Kind.PerNode() && t.honorsAffinity()
}

// onNode counts the pods on one node that a constraint selects.
func (v *verifier) onNode(g *Group, t *Term, n int) int {
	if t.sel.form != FormSet {
		return 0
	}
	sum := 0
	for _, w := range v.selects[t] {
		if !w.Terminating() && v.m.selects(t, g.Workload, w, asks{incoming: true, at: v.m.Topology.Nodes[n]}) {
			sum += v.pods[n][w]
		}
	}
	return sum
}

func (v *verifier) eligible(g *Group, t *Term, to int) map[string]bool {
	if g.Kind.PerNode() {
		domains := map[string]bool{}
		for n := range v.m.Topology.Nodes {
			if v.counted(g, t, n, to) {
				domains[v.m.Topology.Nodes[n].Labels[t.Key]] = true
			}
		}
		return domains
	}
	return v.m.eligibleDomains(v.m.views[0], g, t)
}
