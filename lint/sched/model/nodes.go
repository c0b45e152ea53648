package model

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Eligibility holds the results of the node-level filters, except resources, for one set of node
// rules. It covers each node and one added node for every growing pool and zone.
type Eligibility struct {
	// Nodes has one entry for each node, and Growth has one for each entry in Topology.Growth.
	Nodes, Growth []Passes
	// Count and Growable count the entries in Nodes and Growth that pass all filters.
	Count, Growable int
}

// Passes holds the results of the filters for one node.
type Passes struct {
	// Name is false if spec.nodeName names a different node. Selector is the result for
	// nodeSelector and required node affinity. Taints is the result for taints with the effect
	// NoSchedule or NoExecute. Schedulable is false for a cordoned node that the pods cannot use.
	// Volume is the result for the node affinity of volumes and the allowed topologies of their
	// classes, and Zone is the result for their zone labels.
	Name, Selector, Taints, Schedulable, Volume, Zone bool
}

// All reports whether the node passes all filters.
func (p Passes) All() bool {
	return p.Name && p.Selector && p.Taints && p.Schedulable && p.Volume && p.Zone
}

// Filter holds one workload's node-level filters.
type Filter struct {
	W           *workload.Workload
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
	// extended holds the names of the extended resources that the pod requests. In some clusters,
	// pods tolerate taints with those names.
	extended map[string]bool
	reaches  []reach
}

// daemonTolerations returns the tolerations that the DaemonSet controller adds to its pods
// (pkg/controller/daemon/util/daemonset_util.go; R-N30).
func daemonTolerations(hostNetwork bool) []corev1.Toleration {
	exists := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	all := []corev1.Toleration{
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if hostNetwork {
		all = append(all, exists(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return all
}

// admittedTolerations returns a pod's tolerations plus the ones that admission adds. Admission adds
// a toleration only if the pod has none for the same key and effect
// (plugin/pkg/admission/defaulttolerationseconds/admission.go; R-N17).
func admittedTolerations(own []corev1.Toleration) []corev1.Toleration {
	all := slices.Clone(own)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if !slices.ContainsFunc(own, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}) {
			all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
		}
	}
	return all
}

// NewFilter prepares a workload's node-level filters.
func NewFilter(w *workload.Workload) *Filter {
	s := &w.Spec
	f := &Filter{W: w, tolerations: admittedTolerations(s.Tolerations), extended: map[string]bool{}, reaches: newReaches(w.Reaches)}
	f.affinity = nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: corev1.PodSpec{NodeSelector: s.NodeSelector, Affinity: s.Affinity}})
	if w.Kind.PerNode() {
		f.tolerations = append(f.tolerations, daemonTolerations(s.HostNetwork)...)
	}
	if w.OpenClass() {
		// The undeclared RuntimeClass may add tolerations (R-N39), so ignore all taints.
		f.tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	for _, c := range s.Containers {
		for _, name := range extendedNames(c.Resources) {
			f.extended[name] = true
		}
	}
	return f
}

// cost returns the step cost of applying the filters to one node.
func (f *Filter) cost() int {
	rules := len(f.tolerations) + len(f.W.Spec.NodeSelector)
	for _, t := range nodeTerms(f.W) {
		rules += len(t.MatchExpressions) + len(t.MatchFields)
		for _, e := range t.MatchExpressions {
			rules += len(e.Values)
		}
	}
	for i := range f.reaches {
		rules += f.reaches[i].cost()
	}
	return 4 + rules
}

// nodeTerms returns a workload's required node affinity terms.
func nodeTerms(w *workload.Workload) []corev1.NodeSelectorTerm {
	if a := w.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	return nil
}

// Bound reports whether the manifest names the pod's node. Only the kubelet checks such a pod
// (R-N1, R-P8).
func (f *Filter) Bound() bool { return f.W.Spec.NodeName != "" }

// cordon is the taint that a pod must tolerate to use a cordoned node
// (plugins/nodeunschedulable/node_unschedulable.go; R-N2).
var cordon = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// Passes applies the filters to one node.
func (f *Filter) Passes(n *topology.Node) Passes {
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}
	match, _ := f.affinity.Match(object)
	affinity, zones := f.unusable(n)
	return Passes{
		Name:     !f.Bound() || f.W.Spec.NodeName == n.Name,
		Selector: match,
		Taints:   f.untolerated(n) == nil,
		Schedulable: !n.Unschedulable || f.Bound() ||
			schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, f.tolerations, &cordon, false),
		Volume: affinity == nil, Zone: zones == nil,
	}
}

// untolerated returns the first taint that keeps the pod off a node, or nil (R-N13). The kubelet
// checks only NoExecute (R-P8). The DaemonSet controller runs before the kubelet and checks both
// effects (daemon_controller.go, predicates). On GKE nodes, taints whose key is a requested
// extended resource do not count. Admission adds a toleration for them (admission plugin
// ExtendedResourceToleration; R-S9).
func (f *Filter) untolerated(n *topology.Node) *corev1.Taint {
	if len(n.Taints) == 0 {
		return nil
	}
	managed := false // a GKE node
	if len(f.extended) > 0 {
		for key := range n.Labels {
			managed = managed || strings.HasPrefix(key, "cloud.google.com/gke-")
		}
	}
	taint, found := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Logger{}, n.Taints, f.tolerations, func(t *corev1.Taint) bool {
		if managed && f.extended[t.Key] {
			return false
		}
		return t.Effect == corev1.TaintEffectNoExecute || t.Effect == corev1.TaintEffectNoSchedule && (!f.Bound() || f.W.Kind.PerNode())
	}, false)
	if !found {
		return nil
	}
	return &taint
}

// signature returns the same string for workloads with equal node rules.
func signature(w *workload.Workload) string {
	s := &w.Spec
	var b strings.Builder
	for _, c := range s.Containers {
		for _, name := range extendedNames(c.Resources) {
			b.WriteString(name + " ")
		}
	}
	plain := s.NodeName == "" && len(s.NodeSelector) == 0 && len(s.Tolerations) == 0 && !w.OpenClass() &&
		(s.Affinity == nil || s.Affinity.NodeAffinity == nil) && !w.Kind.PerNode() && len(w.Reaches) == 0 && w.OrdinalReaches == nil
	if plain {
		return b.String()
	}
	fmt.Fprintf(&b, "%q %v %v %v ", s.NodeName, w.OpenClass(), w.Kind.PerNode(), s.HostNetwork)
	for _, k := range SortedKeys(s.NodeSelector) {
		fmt.Fprintf(&b, "%q=%q ", k, s.NodeSelector[k])
	}
	for _, t := range s.Tolerations {
		fmt.Fprintf(&b, "%q %q %q %q;", t.Key, t.Operator, t.Value, t.Effect)
	}
	for _, term := range nodeTerms(w) {
		fmt.Fprintf(&b, "|%q %q", term.MatchExpressions, term.MatchFields)
	}
	b.WriteString(w.ReachesText())
	return b.String()
}

func extendedNames(r workload.Resources) []string {
	var names []string
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for name := range list {
			if strings.Contains(string(name), "/") {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	return names
}

// Eligible returns the results of a workload's node-level filters, except resources.
func (m *Model) Eligible(w *workload.Workload) *Eligibility {
	key := m.Groups[w].Signature
	if e := m.eligible[key]; e != nil {
		return e
	}
	f := NewFilter(w)
	m.run.Spend((len(m.Topology.Nodes) + len(m.Topology.Growth)) * f.cost())
	e := &Eligibility{}
	for _, n := range m.Topology.Nodes {
		p := f.Passes(n)
		e.Nodes = append(e.Nodes, p)
		if p.All() {
			e.Count++
		}
	}
	for _, g := range m.Topology.Growth {
		p := f.Passes(g.Node)
		e.Growth = append(e.Growth, p)
		if p.All() {
			e.Growable++
		}
	}
	m.eligible[key] = e
	return e
}

// Usable yields the nodes that pass a workload's node-level filters. It also yields passing nodes
// that could be added, one for each growing pool and zone, with grown set to true.
func (m *Model) Usable(w *workload.Workload) iter.Seq2[*topology.Node, bool] {
	return func(yield func(n *topology.Node, grown bool) bool) {
		e := m.Eligible(w)
		for i, p := range e.Nodes {
			if p.All() && !yield(m.Topology.Nodes[i], false) {
				return
			}
		}
		for i, p := range e.Growth {
			if p.All() && !yield(m.Topology.Growth[i].Node, true) {
				return
			}
		}
	}
}

// SameDomain reports whether two nodes have the same value for a topology key.
func SameDomain(a, b *topology.Node, key string) bool {
	va, ok := a.Labels[key]
	vb, has := b.Labels[key]
	return ok && has && va == vb
}

// NodeByNode reports whether every node has its own domain for a topology key. If w is not nil, it
// considers only nodes that pass the node-level filters of w.
func (m *Model) NodeByNode(key string, w *workload.Workload) bool {
	domain, size := m.Numbered(key, m.Topology.Nodes)
	nodes := make([]int, size)
	for n, d := range domain {
		if d < 0 || w != nil && !m.Eligible(w).Nodes[n].All() {
			continue
		}
		if nodes[d]++; nodes[d] > 1 {
			return false
		}
	}
	return true
}

// IndexOf returns the index of the node with the given name.
func (m *Model) IndexOf(name string) (int, bool) {
	if m.byName == nil {
		m.byName = make(map[string]int, len(m.Topology.Nodes))
		for i, n := range m.Topology.Nodes {
			m.byName[n.Name] = i
		}
	}
	i, ok := m.byName[name]
	return i, ok
}

// Holds reports whether a group's pod fits on an empty node.
func Holds(n *topology.Node, g *Group) bool {
	most, _ := Fits(n, g.Requests)
	return most > 0
}

// Present reports whether a group has at least one pod that takes part in decisions.
func (m *Model) Present(g *Group) bool {
	switch {
	case !Modelled(g):
		return false
	case g.Kind.PerNode():
		return m.Eligible(g.Workload).Count > 0
	}
	return g.Running || g.Count.N > 0
}

// domainNumbers numbers the domains of the declared nodes for one key.
type domainNumbers struct {
	domain []int32
	size   int
}

// Numbered returns the number of each node's domain for a key, and the number of domains. A node
// without the key has the number -1. The result for the declared nodes is cached.
func (m *Model) Numbered(key string, nodes []*topology.Node) ([]int32, int) {
	if found, ok := m.numbers[key]; ok && len(nodes) == len(m.Topology.Nodes) {
		return found.domain, found.size
	}
	values := map[string]int32{}
	domain := make([]int32, len(nodes))
	for n, node := range nodes {
		v, ok := node.Labels[key]
		if !ok {
			domain[n] = -1
			continue
		}
		domain[n] = lazy.Cached(values, v, func() int32 { return int32(len(values)) })
	}
	if len(nodes) == len(m.Topology.Nodes) {
		m.numbers[key] = domainNumbers{domain, len(values)}
	}
	return domain, len(values)
}

// Offers returns how much of a resource each node offers. The amount is math.MaxInt64 if a node's
// amount is unknown. For the resource "pods", Offers returns the nodes' pod slots.
func (m *Model) Offers(name corev1.ResourceName, nodes []*topology.Node) []int64 {
	if found, ok := m.offered[name]; ok && len(nodes) == len(m.Topology.Nodes) {
		return found
	}
	all := make([]int64, len(nodes))
	for n, node := range nodes {
		amount, judged := Offered(node, &Request{Name: name})
		if all[n] = amount; !judged {
			all[n] = math.MaxInt64
		}
	}
	if len(nodes) == len(m.Topology.Nodes) {
		m.offered[name] = all
	}
	return all
}
