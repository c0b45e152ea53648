package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Avoided returns how many of a node's PreferNoSchedule taints the pod does not tolerate
// (plugins/tainttoleration/taint_toleration.go; R-B2).
func (f *Filter) Avoided(n *topology.Node) (taints int) {
	for i := range n.Taints {
		t := &n.Taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule && !schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, f.tolerations, t, false) {
			taints++
		}
	}
	return taints
}

// Preferred returns, for each node, the sum of the weights of the preferred node affinity terms
// that match it (plugins/nodeaffinity/node_affinity.go; R-B3). It returns nil if the pods have no
// such terms. It returns false if a term does not parse. The scheduler then places no pod.
func Preferred(w *workload.Workload, nodes []*topology.Node) (weights []int64, ok bool) {
	a := w.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil, true
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil, false
	}
	weights = make([]int64, len(nodes))
	for i, n := range nodes {
		weights[i] = terms.Score(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
	}
	return weights, true
}

// SoftSpreads returns the spread constraints that score nodes for the group's pods. A pod without
// any constraints has two default ones
// (plugins/podtopologyspread/plugin.go, systemDefaultConstraints; R-B4), in which case standard is
// set. SoftSpreads returns false if only the cluster knows what the default constraints select.
func (m *Model) SoftSpreads(g *Group) (terms []*Term, standard, known bool) {
	if len(g.Spec.TopologySpreadConstraints) > 0 {
		terms = append(terms, lists.Where(g.Terms, func(t *Term) bool { return t.Use == Spread && !t.Hard })...)
		return terms, false, true
	}
	m.run.Spend(StepsPerGroup)
	sel, known := m.ownSelector(g.Workload)
	if sel.Form == FormEmpty || !known {
		return nil, false, known
	}
	for _, c := range []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelHostname, MaxSkew: 3}, {TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5}} {
		terms = append(terms, &Term{Use: Spread, Key: c.TopologyKey, Constraint: &c, Sel: sel})
	}
	return terms, true, true
}

// ownSelector returns the selector of a workload's default spread constraints. It combines the
// selectors of the Services that select the pods and, for kinds whose pods belong to a ReplicaSet,
// ReplicationController or StatefulSet, the selector of that object
// (plugins/helper/spread.go, DefaultSelector; R-B4).
func (m *Model) ownSelector(w *workload.Workload) (sel selector, known bool) {
	var own metav1.LabelSelector
	var hash []string
	var wrong []source.Mismatch
	var d source.Decoder
	switch at := w.Object.Root.At("spec", "selector"); {
	case w.Kind.Kind == "ReplicationController" && at.IsNull():
		own.MatchLabels = w.Labels
	case w.Kind.Kind == "ReplicationController":
		wrong = d.Decode(at, &own.MatchLabels)
	case w.Kind.Selects && !w.Kind.PerNode():
		wrong = d.Decode(at, &own)
		if w.Kind.Kind != "StatefulSet" { // the selector of a ReplicaSet has the hash of its template
			hash = w.Kind.Shared
		}
	}
	if len(wrong) > 0 {
		return sel, false
	}
	merged, alone := map[string]string{}, Pods(0)
	maps.Copy(merged, own.MatchLabels)
	for _, s := range m.run.services.of(w) {
		pods, answer := m.PodSelector(&metav1.LabelSelector{MatchLabels: s.Selector})(w)
		switch {
		case answer == Maybe:
			return sel, false
		case answer == Yes && pods != AllPods:
			alone |= pods
		case answer == Yes:
			maps.Copy(merged, s.Selector)
		}
	}
	if alone != 0 { // Services that select single pods of a StatefulSet
		return selector{Form: FormNull}, alone.Below(w.Count.N) == w.Count.N
	}
	own.MatchLabels = merged
	sel = newSelector(&own)
	sel.merge(w, hash, metav1.LabelSelectorOpIn)
	return sel, true
}

// serviceIndex lists Services by namespace and the first label that they ask for: by its key and
// value, and by its key with the value "*". Those that ask for a placeholder have no key and value.
type serviceIndex map[[3]string][]workload.Service

func newServiceIndex(all []workload.Service) serviceIndex {
	x := serviceIndex{}
	for _, s := range all {
		ns, key := workload.Space(s.Namespace), SortedKeys(s.Selector)[0]
		if value := s.Selector[key]; source.Placeholder(value) {
			x[[3]string{ns}] = append(x[[3]string{ns}], s)
		} else {
			x[[3]string{ns, key, value}] = append(x[[3]string{ns, key, value}], s)
			x[[3]string{ns, key, "*"}] = append(x[[3]string{ns, key, "*"}], s)
		}
	}
	return x
}

// of returns the Services that may select a workload's pods.
func (x serviceIndex) of(w *workload.Workload) []workload.Service {
	ns := workload.Space(w.Namespace())
	all := slices.Clone(x[[3]string{ns}])
	for _, key := range SortedKeys(w.Labels) {
		value := w.Labels[key]
		if source.Placeholder(value) {
			value = "*"
		}
		all = append(all, x[[3]string{ns, key, value}]...)
	}
	for _, key := range slices.Concat(w.PerPod(), w.Kind.Shared) { // labels that the controller adds
		if _, set := w.Labels[key]; !set {
			all = append(all, x[[3]string{ns, key, "*"}]...)
		}
	}
	return all
}
