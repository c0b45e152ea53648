package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// reach is the compiled form of a workload.Reach.
type reach struct {
	*workload.Reach
	affinity *nodeaffinity.LazyErrorNodeSelector
	// only is set if the affinity is just that a label has one of some values.
	only *corev1.NodeSelectorRequirement
}

func newReaches(all []workload.Reach) []reach {
	var out []reach
	for i := range all {
		r := reach{Reach: &all[i]}
		if r.Affinity != nil {
			r.affinity = nodeaffinity.NewLazyErrorNodeSelector(r.Affinity)
			if only := r.Only(); only != nil && only.Operator == corev1.NodeSelectorOpIn && len(r.Affinity.NodeSelectorTerms[0].MatchFields) == 0 {
				r.only = only
			}
		}
		out = append(out, r)
	}
	return out
}

// cost returns the number of comparisons with one node.
func (r *reach) cost() int {
	sum := 1
	for _, values := range r.Zones {
		sum += len(values)
	}
	if r.Affinity != nil {
		for _, t := range r.Affinity.NodeSelectorTerms {
			for _, e := range t.MatchExpressions {
				sum += 1 + len(e.Values)
			}
		}
	}
	return sum
}

// unusable returns the first claim whose volume cannot be used on a node because of its node
// affinity, and the first because of its zone labels. Both may be nil. Only the scheduler checks
// this (plugins/volumebinding, plugins/volumezone; R-N34, R-N35). The node that a volume's affinity
// is compared with has no name, so matchFields are ignored.
func (f *Filter) unusable(n *topology.Node) (affinity, zones *workload.Reach) {
	if f.Bound() {
		return nil, nil
	}
	for i := range f.reaches {
		r := &f.reaches[i]
		if r.Open != "" {
			continue
		}
		if affinity == nil && !r.admits(n) {
			affinity = r.Reach
		}
		if zones == nil && !inZones(r.Zones, n.Labels) {
			zones = r.Reach
		}
	}
	return affinity, zones
}

// admits reports whether a node matches the volume's affinity.
func (r *reach) admits(n *topology.Node) bool {
	switch {
	case r.affinity == nil:
		return true
	case r.only != nil: // the usual form, without the cost of a selector
		value, has := storageLabel(n, r.only.Key)
		return has && slices.Contains(r.only.Values, value)
	}
	match, err := r.affinity.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: storageLabels(n, r.Affinity)}})
	return err == nil && match
}

// ExplainVolume returns an exclusion for the first claim whose volume cannot be used on the node.
func (f *Filter) ExplainVolume(n *topology.Node) Exclusion {
	affinity, zones := f.unusable(n)
	if affinity == nil {
		return Exclusion{Kind: OtherVolume, Reach: zones, Requirement: zones.Only()}
	}
	return Exclusion{Kind: OtherVolume, Reach: affinity, Requirement: affinity.Only()}
}

// inZones reports whether a node is in a volume's zones and regions. A node without any zone or
// region label is. A deprecated label of the volume also matches the node's label with the new name
// (plugins/volumezone/volume_zone.go).
func inZones(zones map[string][]string, labels map[string]string) bool {
	if len(zones) == 0 || !slices.ContainsFunc(workload.ZoneKeys, func(key string) bool { _, has := labels[key]; return has }) {
		return true
	}
	for key, values := range zones {
		value, has := labels[key]
		if replacement, old := topology.Deprecated(key); !has && old {
			value, has = labels[replacement]
		}
		if !has || !slices.Contains(values, value) {
			return false
		}
	}
	return true
}

// reachRules returns the rules that decide where the volumes of a workload can be used.
func reachRules(w *workload.Workload) (rules []corev1.NodeSelectorRequirement) {
	all := w.Reaches
	if w.OrdinalReaches != nil {
		all = slices.Concat(slices.Collect(maps.Values(w.OrdinalReaches.Of))...)
		all = slices.Concat(w.Reaches, w.OrdinalReaches.Rest, all)
	}
	for _, r := range all {
		for key, values := range r.Zones {
			rules = append(rules, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
		}
		if r.Affinity == nil || r.Chosen {
			continue
		}
		for _, t := range r.Affinity.NodeSelectorTerms {
			for _, e := range t.MatchExpressions {
				rules = append(rules, e)
				e.Key = storage.TopologyKey(e.Key)
				rules = append(rules, e)
			}
		}
	}
	sorting.Stable(rules, func(a, b corev1.NodeSelectorRequirement) int { return strings.Compare(a.Key, b.Key) }) // Of is a map
	return rules
}

// storageLabels returns a node's labels for comparison with a volume's affinity. A storage driver
// adds labels of its own to the Node. Unless the API server wrote the Node, they may be missing, but
// its zone or hostname has the same value.
func storageLabels(n *topology.Node, s *corev1.NodeSelector) map[string]string {
	if n.Live {
		return n.Labels
	}
	labels := n.Labels
	for _, t := range s.NodeSelectorTerms {
		for _, e := range t.MatchExpressions {
			_, has := n.Labels[e.Key]
			if value, known := storageLabel(n, e.Key); !has && known {
				if len(labels) == len(n.Labels) {
					labels = maps.Clone(n.Labels)
				}
				labels[e.Key] = value
			}
		}
	}
	return labels
}

// storageLabel is storageLabels for one key.
func storageLabel(n *topology.Node, key string) (value string, has bool) {
	if value, has = n.Labels[key]; !has && !n.Live {
		value, has = n.Labels[storage.TopologyKey(key)]
	}
	return value, has
}

// declaredKeys maps label keys to whether some node of the cluster declares them. All models of a run
// share it, because a model of few nodes may lack those that do.
type declaredKeys map[string]bool

// undeclaredKey returns a key of a volume's affinity that a storage driver may have set on nodes that
// do not declare it, or "".
func (m *Model) undeclaredKey(r *workload.Reach) string {
	if r.Affinity == nil {
		return ""
	}
	keys := *KeepInRun(m.run, func() *declaredKeys { return &declaredKeys{} })
	for _, t := range r.Affinity.NodeSelectorTerms {
		for _, e := range t.MatchExpressions {
			if m.Topology.Uncertain(e.Key) || m.Topology.Uncertain(storage.TopologyKey(e.Key)) {
				return e.Key
			}
			known := storage.TopologyKey(e.Key) != "" || strings.HasPrefix(e.Key, "topology.kubernetes.io/") || e.Key == corev1.LabelHostname
			if !known && !lazy.Cached(keys, e.Key, func() bool {
				nodes := m.Topology.All()
				m.run.Spend(len(nodes))
				return slices.ContainsFunc(nodes, func(n *topology.Node) bool { _, has := n.Labels[e.Key]; return has || n.Live })
			}) {
				return e.Key
			}
		}
	}
	return ""
}

// openReach explains why it is not known which nodes can use a group's claims. It returns "" if this
// is known. Nothing restricts the DaemonSet controller, so a pod of a DaemonSet may stay Pending.
func (m *Model) openReach(g *Group) string {
	all := g.Reaches
	if of := g.OrdinalReaches; of != nil {
		start, known := g.FirstOrdinal()
		if !known || g.Scale != nil || g.Count.N > maxSplit {
			return "volumes that differ from pod to pod"
		}
		all = slices.Clip(all)
		for i := range g.Count.N {
			all = append(all, of.At(start+i)...)
		}
	}
	for i := range all {
		switch {
		case all[i].Open != "":
			return all[i].Open
		case g.Kind.PerNode():
			return all[i].Source()
		}
		if key := m.undeclaredKey(&all[i]); key != "" {
			return "the node label " + key + ", which " + all[i].Source() + " names and no node declares"
		}
	}
	return ""
}

// Pin describes where the pods of a workload can move on the model's nodes (R-W35).
type Pin struct {
	// Key is the label whose value a pod keeps, or empty if pods may move to any node.
	Key string
	// Open says what is not known, if it is not known whether the key applies. Vague is set if some
	// nodes that the pods can use lack the label.
	Open  string
	Vague bool
	// Bound is set if filters already keep each pod where the key says, because its volume exists.
	Bound bool
}

// Reason returns the reason why an answer depends on where volumes can be used.
func (p Pin) Reason() Reason {
	if p.Open != "" {
		return Reason{Cause: ByClass, Name: p.Open}
	}
	return Reason{Cause: ByVolume, Name: "where its volumes can be used"}
}

// PinOf returns where the pods of a workload can move. If all nodes that they can use have the same
// value, they may move to any of these.
func (m *Model) PinOf(w *workload.Workload) Pin {
	if w.OrdinalReaches != nil && m.Groups[w] != nil {
		pins := Keep(m, func() *boundPins { return &boundPins{} })
		return lazy.Cached(*pins, m.Groups[w].Signature+" "+w.Pin+" "+w.OpenPin+" "+strconv.Itoa(w.Count.N), func() Pin { return m.boundPin(w) })
	}
	if w.Pin == "" || w.Pin == corev1.LabelHostname || m.Topology.Empty() || m.Groups[w] == nil {
		return Pin{Key: w.Pin, Open: w.OpenPin}
	}
	pins := Keep(m, func() *map[string]Pin { return &map[string]Pin{} })
	return lazy.Cached(*pins, m.Groups[w].Signature+" "+w.Pin+" "+w.OpenPin, func() Pin {
		values, lacks := map[string]bool{}, false
		m.run.Spend(len(m.Topology.Nodes) + len(m.Topology.Growth))
		for n := range m.Usable(w) {
			value, has := n.Labels[w.Pin]
			if lacks = lacks || !has; has {
				values[value] = true
			}
		}
		switch {
		case len(values) == 0 && w.OpenPin != "" && !m.Topology.Uncertain(w.Pin), len(values) == 1 && !lacks:
			return Pin{}
		case lacks:
			return Pin{Key: w.Pin, Open: w.OpenPin, Vague: true}
		}
		return Pin{Key: w.Pin, Open: w.OpenPin}
	})
}

// boundPins caches boundPin.
type boundPins map[string]Pin

// usable reports for each node whether a pod can use its volumes there, given what restricts them.
func (m *Model) usable(all []workload.Reach) []bool {
	type usable map[string][]bool
	known := *KeepForNodes(m, func() *usable { return &usable{} })
	return lazy.Cached(known, workload.ReachText(all), func() []bool {
		f := &Filter{W: &workload.Workload{}, reaches: newReaches(all)}
		m.run.Spend(1 + len(m.Topology.Nodes)*len(all)/PerStep)
		on := make([]bool, len(m.Topology.Nodes))
		for n, node := range m.Topology.Nodes {
			affinity, zones := f.unusable(node)
			on[n] = affinity == nil && zones == nil
		}
		return on
	})
}

// Reached returns for each node the pods of a StatefulSet whose volumes can be used there. It returns
// nil if the volumes of all pods can be used on the same nodes, or if there are too many pods to tell
// apart.
func (m *Model) Reached(w *workload.Workload) []Pods {
	if w.OrdinalReaches == nil || w.Count.N > maxSplit {
		return nil
	}
	start, known := w.FirstOrdinal()
	if !known {
		return nil
	}
	type reached map[string][]Pods
	all := KeepForNodes(m, func() *reached { return &reached{} })
	return lazy.Cached(*all, strconv.Itoa(w.Count.N)+" "+w.ReachesText(), func() []Pods {
		of := make([]Pods, len(m.Topology.Nodes))
		for i := range w.Count.N {
			for n, can := range m.usable(w.OrdinalReaches.At(start + i)) {
				if can {
					of[n] |= 1 << i
				}
			}
		}
		return of
	})
}

// confined returns the pods that can only use nodes with one value of a label, given the pods that can
// use each node. The result exact is true if nodes with the same value are for the same pods.
func (m *Model) confined(key string, of []Pods, n int) (pods Pods, exact bool) {
	m.run.Spend(1 + len(of)/PerStep)
	values, by := make([]string, n), map[string]Pods{}
	pods, exact = AllPods, true
	for i, node := range m.Topology.Nodes {
		value, has := node.Labels[key]
		if same, seen := by[value]; seen && same != of[i] || !has && of[i] != 0 {
			exact = false
		}
		by[value] = of[i]
		for k := range values {
			switch {
			case of[i]>>k&1 == 0:
			case !has || values[k] != "" && values[k] != value:
				pods &^= 1 << k
			default:
				values[k] = value
			}
		}
	}
	return pods, exact
}

// boundLabel returns a label that n pods cannot leave the value of, because their volumes exist. It
// returns "" if there is none.
func (m *Model) boundLabel(of []Pods, n int, all []workload.Reach) string {
	var keys []string
	for _, r := range all {
		keys = slices.AppendSeq(keys, maps.Keys(r.Zones))
		if r.Affinity != nil {
			for _, t := range r.Affinity.NodeSelectorTerms {
				for _, e := range t.MatchExpressions {
					keys = append(keys, e.Key, storage.TopologyKey(e.Key))
				}
			}
		}
	}
	slices.Sort(keys)
	slices.Reverse(keys) // standard labels first
	for _, key := range slices.Compact(keys) {
		if pods, exact := m.confined(key, of, n); key != "" && exact && pods.Below(n) == n {
			return key
		}
	}
	return ""
}

// exists reports whether what restricts a pod is a volume that exists.
func exists(r workload.Reach) bool { return r.By != nil && r.By.Kind == "PersistentVolume" }

// boundPin returns where the pods of a StatefulSet can move if some of their volumes exist already,
// and each can be used on the nodes with one value of a label. It is vague if there is no such label.
func (m *Model) boundPin(w *workload.Workload) Pin {
	of := m.Reached(w)
	vague := Pin{Key: w.Pin, Open: w.OpenPin, Vague: true}
	if of == nil {
		return vague
	}
	start, _ := w.FirstOrdinal()
	var all []workload.Reach
	open := AllPods // the pods whose volumes may not exist
	for i := range w.Count.N {
		own := w.OrdinalReaches.At(start + i)
		if all = append(all, own...); slices.ContainsFunc(own, exists) {
			open &^= 1 << i
		}
	}
	pods, exact := m.confined(w.Pin, of, w.Count.N)
	if w.Pin != "" && pods.Below(w.Count.N) < w.Count.N {
		if w.OpenPin == "" && exact && (pods|open).Below(w.Count.N) == w.Count.N {
			return Pin{Key: w.Pin}
		}
		return vague
	}
	if key := m.boundLabel(of, w.Count.N, all); key != "" {
		return Pin{Key: key, Bound: true}
	}
	return vague
}

// BoundTo returns the label that the pods of a workload cannot leave the value of, because they use
// volumes that exist and can be used there only. It returns "" if there is none.
func (m *Model) BoundTo(w *workload.Workload) string {
	if !slices.ContainsFunc(w.Reaches, exists) || m.Topology.Empty() {
		return ""
	}
	of := make([]Pods, len(m.Topology.Nodes))
	for n, can := range m.usable(w.Reaches) {
		if can {
			of[n] = 1
		}
	}
	return m.boundLabel(of, 1, w.Reaches)
}

// driverless says where it is not known whether a driver makes volumes for a group. On an API server's
// Node, a driver sets its topology key. If any node has it, the driver may not run on others that the
// pods can use, which the scheduler does not check. A pod there stays Pending (R-N35).
func (m *Model) driverless(g *Group) string {
	for _, c := range g.Claims {
		key := storage.NodeKey(c.Driver)
		has := func(n *topology.Node) bool { _, here := n.Labels[key]; return here }
		if c.Bound || key == "" || g.Running || !slices.ContainsFunc(m.Topology.All(), has) {
			continue
		}
		m.run.Spend(1 + len(m.Topology.All())/PerStep)
		for n := range m.Usable(g.Workload) {
			if n.Live && !has(n) {
				return "whether driver " + c.Driver + " runs on node " + n.Name + ", which lacks the label " + key
			}
		}
	}
	return ""
}

// volumesOf returns the reason why it is not known on which nodes the pods of a group can start
// because of their volumes, or an empty reason. Pods that use one claim have to follow the first of
// them to the domain of its volume, or cannot run at the same time.
func (m *Model) volumesOf(g *Group) Reason {
	several := g.Kind.PerNode() || g.Count.N > 1 || g.Scale != nil && g.Scale.Max > 1 || g.SharesClaim
	switch p, open := m.PinOf(g.Workload), m.openReach(g); {
	case open != "":
		return Reason{Cause: ByVolume, Name: open}
	case m.run.volumes.open(m, g) != "":
		return Reason{Cause: ByVolume, Name: m.run.volumes.open(m, g)}
	case m.driverless(g) != "":
		return Reason{Cause: ByVolume, Name: m.driverless(g)}
	case g.OpenVolume != "" && !g.Running:
		return Reason{Cause: ByVolume, Name: g.OpenVolume}
	case g.OpenOnce != "" && several:
		return Reason{Cause: ByVolume, Name: g.OpenOnce}
	case g.SharedPin && several && (p.Key != "" || g.SharesClaim && g.Pin != "" && m.several(g.Pin)): // others may be elsewhere
		return p.Reason()
	case (g.Count.N > 1 || g.Scale != nil && g.Scale.Max > 1) && g.AttachedBy != nil && g.Kind.Kind == "StatefulSet" && g.Object.Root.At("spec", "podManagementPolicy").Text() != "Parallel" && m.Eligible(g.Workload).Count > 1: // a pod that hangs keeps the rest from being created
		return Reason{Cause: ByVolume, Name: "claim " + g.AttachedBy.Name + ", whose volume may be attached to one node at a time"}
	case several && slices.ContainsFunc(g.Reaches, func(r workload.Reach) bool { return r.First && !slices.Contains(g.OncePod, r.Claim) }):
		return Reason{Cause: ByVolume, Name: "where its first pod starts"}
	}
	for _, e := range g.Early {
		if len(e.Values) > 1 || e.Values == nil && m.several(e.Key) { // it may be made in several places
			return Reason{Cause: ByVolume, Name: e.String()}
		}
	}
	return Reason{}
}

// Early returns the values of a node label for which a claim's volume may be made before the pods are
// scheduled, and those of the nodes that the pods can use without it. It returns nothing if that is
// not known. A Node that the API server wrote and that lacks the label cannot use the volume (R-N35).
func (m *Model) Early(w *workload.Workload, e *workload.Early) (made, usable []string) {
	mode := e.Class.Root.Get("volumeBindingMode")
	if !mode.IsNull() && mode.Text() != "Immediate" || e.Claim.Open != "" || e.Claim.Pinned == storage.PinTwoZones || m.Topology.Uncertain(e.Key) {
		return nil, nil
	}
	free := *w
	free.Reaches, free.OrdinalReaches = nil, nil
	defer m.Guest(&free)()
	declared, own := map[string]bool{}, map[string]bool{}
	m.run.Spend(1 + len(m.Topology.Nodes)/PerStep)
	for _, n := range m.Topology.Nodes {
		value, has := n.Labels[e.Key]
		if (has || !n.Live) && len(n.Taints) == 0 { // the driver need not run on tainted nodes
			declared[value] = true
		}
	}
	for n := range m.Usable(&free) {
		if value, has := n.Labels[e.Key]; has || !n.Live {
			own[value] = true
		}
	}
	if made = e.Values; made == nil {
		made = sorting.Keys(declared)
	}
	if declared[""] || own[""] {
		return nil, nil
	}
	return made, sorting.Keys(own)
}

// several reports whether the nodes have several values of a label, or some lack it.
func (m *Model) several(key string) bool {
	all := m.Topology.All()
	m.run.Spend(1 + len(all)/PerStep)
	return slices.ContainsFunc(all, func(n *topology.Node) bool {
		value, has := n.Labels[key]
		return !has || value != all[0].Labels[key]
	})
}

// MayMove reports whether a lost pod of a workload can use its volumes on a node (R-W35). A pod stays
// in the domain of its first node, which is one of the lost nodes. Known is false if that depends on
// which of them it is.
func MayMove(w *workload.Workload, nodes []*topology.Node, lost func(n int) bool) (to []bool, known bool) {
	if w.Pin == "" {
		return nil, true
	}
	values := map[string]bool{}
	for i, n := range nodes {
		if value, has := n.Labels[w.Pin]; has && lost(i) {
			values[value] = true
		}
	}
	to = make([]bool, len(nodes))
	some := false
	for i, n := range nodes {
		value, has := n.Labels[w.Pin]
		to[i] = has && values[value] && !lost(i) && w.Pin != corev1.LabelHostname
		some = some || to[i]
	}
	return to, len(values) < 2 || !some
}
