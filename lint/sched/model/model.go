package model

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/meter"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Model represents the workloads and nodes in one cluster.
type Model struct {
	// Workloads is sorted by namespace, kind and name.
	Workloads  []*workload.Workload
	Namespaces map[string]map[string]string
	// Topology is nil or empty if no node is declared.
	Topology *topology.Topology

	run    *Run
	Groups map[*workload.Workload]*Group
	Index  *labelIndex
	// elsewhere lists workloads that may or may not be deployed.
	elsewhere []*workload.Workload

	*perNodes
	excluded map[excludedKey][]Exclusion
	// Parts caches the model that Split derived from this one.
	Parts *Model
	// StandFor maps a declared workload to the indices of the workloads that represent it. running
	// lists the indices of the running workloads. The method Number sets both fields.
	StandFor map[*workload.Workload][]int
	running  []int
	// WithoutFinite is the model without workloads whose pods finish. absent indexes the
	// workloads that take no part in decisions but may have pods (see Permanent).
	WithoutFinite *Model
	absent        *labelIndex
	// Members maps a workload to the workloads that were merged into it.
	Members map[*workload.Workload][]*workload.Workload
	byName  map[string]int
	// Unordered is set if pods of a StatefulSet may be missing whatever their ordinals, as after a loss.
	Unordered bool
	// Apart lists pairs of workloads that must be kept apart for a reason other than a term.
	Apart []Apart
	// Kept holds the data that other packages cache with the model (see Keep).
	Kept map[any]any
}

// perNodes caches data that depends on the nodes alone. Models with different workloads on the
// same nodes share it.
type perNodes struct {
	eligible map[string]*Eligibility
	Views    []*View
	domains  map[DomainKey]map[string]bool
	numbers  map[string]domainNumbers
	offered  map[corev1.ResourceName][]int64
	// limited holds one node for each capacity that nodes declare.
	limited []*topology.Node
	// kept holds the data that other packages cache (see KeepForNodes).
	kept map[any]any
}

// newPerNodes returns an empty cache for nodes that the workloads' pods use.
func newPerNodes(topo *topology.Topology, ws []*workload.Workload) *perNodes {
	known := &perNodes{
		eligible: map[string]*Eligibility{}, domains: map[DomainKey]map[string]bool{},
		numbers: map[string]domainNumbers{}, offered: map[corev1.ResourceName][]int64{}, kept: map[any]any{}, limited: limited(topo),
	}
	if !topo.Empty() {
		known.Views = append(known.Views, newView(topo, nil))
	}
	if !topo.Empty() && topo.Elastic() {
		known.Views = append(known.Views, newView(topo, ws))
	}
	return known
}

// Group is a workload with its parsed terms. Its pods differ at most in labels.
type Group struct {
	*workload.Workload
	// Terms lists all pod affinity and anti-affinity terms and spread constraints in manifest
	// order.
	Terms []*Term
	// Requests lists what one pod requests, and HostPorts lists the host ports that it uses.
	Requests  []Request
	HostPorts []HostPort
	// spreadKeys lists the topology keys of all hard spread constraints. sortedKeys lists each of
	// these keys once, in sorted order. KeysID identifies the list.
	spreadKeys, sortedKeys []string
	KeysID                 string
	// Signature is the same for groups with equal node rules. Request is the same for groups with
	// equal requests.
	Signature, Request string
	// Unknown explains why the group's placement cannot be judged. It is empty if the placement
	// can be judged.
	Unknown Reason
	// Whole is set if this group is a single pod from a workload. Whole is that workload, and
	// Position is the pod's index. After is the pod that must be placed before this pod is created,
	// or nil (R-W11).
	Whole, After *workload.Workload
	Position     int
}

// NewModel returns a model of one cluster's workloads and nodes.
func NewModel(set *workload.Set, topo *topology.Topology) *Model {
	run := &Run{Meter: meter.New(), factor: 1, part: 1, sizes: map[*source.Object]int{}, services: newServiceIndex(set.Services), avoided: avoidedKeys(slices.Concat(set.Workloads, set.Elsewhere)), kept: map[any]any{}}
	if topo.Chooses() {
		topo = topo.Sampled(askedLabels(slices.Concat(set.Workloads, set.Elsewhere)))
	}
	run.volumes, topo = countVolumes(run, set.Workloads, topo)
	if !topo.Empty() {
		run.nodes = len(topo.Nodes) + len(topo.Growth)
	}
	return newModel(run, set, topo, newPerNodes(topo, set.Workloads), nil)
}

// newModel builds a model in an existing run. It reuses the results cached in nodes and the groups
// in ready.
func newModel(run *Run, set *workload.Set, topo *topology.Topology, nodes *perNodes, ready map[*workload.Workload]*Group) *Model {
	m := &Model{
		run:       run,
		Workloads: ordered(set.Workloads), Namespaces: set.Namespaces, Topology: topo,
		Groups: make(map[*workload.Workload]*Group, len(set.Workloads)), perNodes: nodes,
		excluded: map[excludedKey][]Exclusion{}, Kept: map[any]any{},
	}
	run.Spend(stepsPerModel)
	m.Index = NewLabelIndex(slices.Concat(set.Workloads, set.Elsewhere))
	m.elsewhere = set.Elsewhere
	for _, w := range slices.Concat(set.Workloads, set.Elsewhere) {
		if g := ready[w]; g != nil {
			m.Groups[w] = g
			continue
		}
		m.addGroup(w)
	}
	m.openNamespaces()
	m.absent = withoutWorkloads(m, func(g *Group) bool { return !Modelled(g) })
	return m
}

// addGroup parses a workload's terms and adds its group.
func (m *Model) addGroup(w *workload.Workload) {
	g := &Group{Workload: w, Terms: terms(w)}
	m.Groups[w] = g
	defer func() { g.Unknown = m.unknown(g) }()
	m.run.Spend(StepsPerGroup * (1 + len(g.Terms)))
	var keys []string
	for t := range g.Hard(Spread) {
		keys = append(keys, t.Key)
	}
	g.sortedKeys = slices.Compact(slices.Sorted(slices.Values(keys)))
	if len(keys) > 0 && w.Spec.NodeName == "" { // a kubelet applies no rules about other pods (R-P8)
		g.spreadKeys = keys
		g.KeysID = ShortID(strings.Join(g.spreadKeys, ","))
	}
	if !m.Topology.Empty() {
		g.Requests, g.HostPorts, g.Signature = append(Requests(w), m.run.volumes.requests(w)...), hostPorts(w), signature(w)
		// A request that exceeds the capacity of some node is also one of a made-up resource.
		if !g.Running {
			for _, r := range g.Requests {
				if slices.ContainsFunc(m.limited, func(n *topology.Node) bool { return exceeds(n, &r) }) {
					name := corev1.ResourceName(beyond + strconv.FormatInt(r.Amount, 10) + " of " + string(r.Name))
					g.Requests = append(g.Requests, Request{Name: name, Amount: 1, Quantity: r.Quantity, Kubelet: r.Kubelet})
				}
			}
		}
		text := append(make([]byte, 0, 64), '[')
		for i := range g.Requests {
			if i > 0 {
				text = append(text, ' ')
			}
			text = g.Requests[i].appendText(text)
		}
		g.Request = string(append(text, ']'))
	}
}

// Guest adds a copy of a workload to the model, to answer questions about the copy. The caller must
// call leave to remove it. Selectors find the original instead of the copy.
func (m *Model) Guest(w *workload.Workload) (leave func()) {
	m.addGroup(w)
	return func() { delete(m.Groups, w) }
}

// Run returns the run that this model shares with all models derived from it.
func (m *Model) Run() *Run { return m.run }

// Keep returns a value that a package caches with a model, creating it on first use. The key is
// the value's type, which belongs to that package. The value lives as long as the model.
func Keep[T any](m *Model, make func() *T) *T { return keep(m.Kept, make) }

// KeepForNodes is like Keep, for values that do not depend on the workloads. Models with
// different workloads on the same nodes share them.
func KeepForNodes[T any](m *Model, make func() *T) *T { return keep(m.perNodes.kept, make) }

// KeepInRun is like Keep, for values that all models in a run share.
func KeepInRun[T any](r *Run, make func() *T) *T { return keep(r.kept, make) }

func keep[T any](kept map[any]any, make func() *T) *T {
	key := (*T)(nil)
	if known, ok := kept[key]; ok {
		return known.(*T)
	}
	made := make()
	kept[key] = made
	return made
}

// ordered returns the workloads sorted by name. This keeps answers independent of the input order.
func ordered(ws []*workload.Workload) []*workload.Workload {
	all := slices.Clone(ws)
	byName := func(a, b *workload.Workload) int {
		x, y := a.Object, b.Object
		return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Kind, y.Kind), strings.Compare(x.Name, y.Name), strings.Compare(x.APIVersion, y.APIVersion))
	}
	if !slices.IsSortedFunc(all, byName) {
		slices.SortStableFunc(all, byName)
	}
	return all
}

// Group returns a workload's group.
func (m *Model) Group(w *workload.Workload) *Group { return m.Groups[w] }

// defaultScheduler is the name of the only scheduler profile whose filters are known (R-N41).
const defaultScheduler = "default-scheduler"

// unknown returns the reason why a workload's placement cannot be judged, or an empty reason.
func unknown(w *workload.Workload) Reason {
	switch {
	case w.Elsewhere:
		return Reason{Cause: ByContext}
	case w.Refused():
		return Reason{Cause: ByRejection}
	case w.Running && len(w.Open) == 0: // however the pod got to its node
		return Reason{}
	case w.Spec.SchedulerName != "" && w.Spec.SchedulerName != defaultScheduler:
		return Reason{Cause: ByScheduler, Name: w.Spec.SchedulerName}
	case len(w.Spec.SchedulingGates) > 0:
		return Reason{Cause: ByGates}
	case w.Queued():
		return Reason{Cause: ByQueue}
	case len(w.Open) > 0:
		return Reason{Cause: ByField, Name: w.Open[0]}
	case w.Bare() && w.RestartPolicy().Placeholder():
		return Reason{Cause: ByField, Name: "restartPolicy"} // it is unknown whether the pod finishes
	}
	return Reason{}
}

// unknown returns the reason why a group's placement on the model's nodes cannot be judged, or an
// empty reason.
func (m *Model) unknown(g *Group) Reason {
	why := unknown(g.Workload)
	if why.Given() || m.Topology.Empty() {
		return why
	}
	var rules []corev1.NodeSelectorRequirement
	met := func(key string, values ...string) { // by a number
		if m.run.avoided[key] && m.Topology.Drawn(key) && (len(values) == 0 || slices.ContainsFunc(values, isNumber)) {
			why = Reason{Cause: ByNodeLabel, Name: key}
		}
	}
	for _, key := range SortedKeys(g.Spec.NodeSelector) {
		rules = append(rules, is(key, g.Spec.NodeSelector[key]))
		met(key, g.Spec.NodeSelector[key])
	}
	for _, term := range nodeTerms(g.Workload) {
		rules = append(rules, term.MatchFields...)
		for _, r := range term.MatchExpressions {
			rules = append(rules, r)
			switch r.Operator {
			case corev1.NodeSelectorOpIn:
				met(r.Key, r.Values...)
			case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
				met(r.Key)
			}
		}
	}
	for t := range g.HardTerms() {
		if spreadsAnywhere(t) && m.Topology.AnyDomain(t.Key) {
			continue
		}
		rules = append(rules, corev1.NodeSelectorRequirement{Key: t.Key, Operator: corev1.NodeSelectorOpExists})
		met(t.Key)
	}
	if why.Given() {
		return why
	}
	rules = append(rules, reachRules(g.Workload)...)
	if i := slices.IndexFunc(rules, m.Uncertain); i >= 0 && (g.Kind.PerNode() || g.Running || m.passesAnywhere(m.certain(g.Workload))) {
		return Reason{Cause: ByNodeLabel, Name: rules[i].Key}
	}
	if name := g.Spec.NodeName; name != "" && !g.Running && m.Topology.MadeUp(name) {
		return Reason{Cause: ByNodeLabel, Name: metav1.ObjectNameField}
	}
	switch volumes, other := m.volumesOf(g), m.otherSystem(g); {
	case other != "":
		return Reason{Cause: BySystem, Name: other}
	case volumes.Given() && (g.Kind.PerNode() || g.Running || m.fitsAnywhere(g)):
		return volumes
	case g.Operator != "" && m.fitsAnywhere(g):
		return Reason{Cause: ByOperator, Name: g.Operator}
	case g.Admission != "" && m.fitsAnywhere(g):
		return Reason{Cause: ByAdmission, Name: g.Admission}
	case g.Admission == "" && g.OpenClass() && m.classDecides(g) && m.fitsAnywhere(g):
		return Reason{Cause: ByAdmission, Name: "RuntimeClass " + g.Spec.RuntimeClassName + ", which is not declared"}
	}
	return why
}

// is returns the rule that a label has a value.
func is(key, value string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}
}

// Uncertain reports whether it is not known which nodes meet a rule.
func (m *Model) Uncertain(r corev1.NodeSelectorRequirement) bool {
	if r.Operator == corev1.NodeSelectorOpIn && m.Topology.Lacks(r.Key, r.Values) {
		return false
	}
	named := (r.Key == corev1.LabelHostname || r.Key == metav1.ObjectNameField) && r.Operator != corev1.NodeSelectorOpExists && r.Operator != corev1.NodeSelectorOpDoesNotExist
	return m.Topology.Uncertain(r.Key) || named && m.Topology.MadeUp(r.Values...)
}

// certain returns a workload without the node rules that depend on labels that are not known.
func (m *Model) certain(w *workload.Workload) *workload.Workload {
	c := *w
	c.Spec.NodeSelector = maps.Clone(w.Spec.NodeSelector)
	maps.DeleteFunc(c.Spec.NodeSelector, func(key, value string) bool { return m.Uncertain(is(key, value)) })
	var terms []corev1.NodeSelectorTerm
	for _, t := range nodeTerms(w) {
		rest, fields := slices.DeleteFunc(slices.Clone(t.MatchExpressions), m.Uncertain), slices.DeleteFunc(slices.Clone(t.MatchFields), m.Uncertain)
		if len(rest)+len(fields) == 0 && len(t.MatchExpressions)+len(t.MatchFields) > 0 { // nothing certain is left
			terms = nil
			break
		}
		terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: rest, MatchFields: fields})
	}
	if nodeTerms(w) != nil {
		c.Spec.Affinity = nil
	}
	if terms != nil {
		c.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	if slices.ContainsFunc(reachRules(w), m.Uncertain) {
		c.Reaches, c.OrdinalReaches = nil, nil
	}
	return &c
}

// passesAnywhere reports whether some node passes the node-level filters of a workload.
func (m *Model) passesAnywhere(w *workload.Workload) bool {
	f, nodes := NewFilter(w), m.Topology.All()
	m.run.Spend(len(nodes) * f.cost())
	return slices.ContainsFunc(nodes, func(n *topology.Node) bool { return f.Passes(n).All() })
}

func isNumber(v string) bool { _, err := strconv.Atoi(v); return err == nil }

// spreadsAnywhere reports whether a term is met in any number of domains to which nodes can be added.
func spreadsAnywhere(t *Term) bool { return t.Use == Spread && t.MinDomains() <= 1 }

// askedLabels returns what the pods of workloads ask about the labels of nodes.
func askedLabels(ws []*workload.Workload) map[string]*topology.Asked {
	all := map[string]*topology.Asked{}
	of := func(key string) *topology.Asked {
		return lazy.Cached(all, key, func() *topology.Asked { return &topology.Asked{} })
	}
	for _, w := range ws {
		for key, value := range w.Spec.NodeSelector {
			of(key).Values = append(of(key).Values, value)
		}
		rules := reachRules(w)
		for _, t := range nodeTerms(w) {
			rules = append(rules, t.MatchExpressions...)
		}
		for _, r := range rules {
			a := of(r.Key)
			a.Values, a.Missing = append(a.Values, r.Values...), a.Missing || r.Operator == corev1.NodeSelectorOpDoesNotExist
		}
		for _, t := range terms(w) {
			if a := of(t.Key); t.Hard {
				a.Spreads, a.Divides = a.Spreads || spreadsAnywhere(t), a.Divides || !spreadsAnywhere(t)
			}
		}
	}
	return all
}

// avoidedKeys returns the keys of node labels some of whose values pods avoid.
func avoidedKeys(ws []*workload.Workload) map[string]bool {
	keys := map[string]bool{}
	for _, w := range ws {
		terms := nodeTerms(w)
		if a := w.Spec.Affinity; a != nil && a.NodeAffinity != nil {
			for _, p := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
				terms = append(slices.Clip(terms), p.Preference)
			}
		}
		for _, t := range terms {
			for _, r := range t.MatchExpressions {
				if r.Operator == corev1.NodeSelectorOpNotIn {
					keys[r.Key] = true
				}
			}
		}
	}
	return keys
}

// otherSystem returns a node that passes a group's node-level filters and has another operating system
// than spec.os names, or "". Its kubelet refuses the pods (R-P16).
func (m *Model) otherSystem(g *Group) string {
	if g.Spec.OS == nil || g.Running {
		return ""
	}
	for n := range m.Usable(g.Workload) {
		if os, has := n.Labels[corev1.LabelOSStable]; has && os != string(g.Spec.OS.Name) {
			return n.Name
		}
	}
	return ""
}

// classDecides reports whether the pods can use some node only with a toleration that their
// undeclared RuntimeClass may add (R-N39).
func (m *Model) classDecides(g *Group) bool {
	own := *g.Workload
	own.PlainClass = true
	defer m.Guest(&own)()
	with, without := m.Eligible(g.Workload), m.Eligible(&own)
	return with.Count != without.Count || with.Growable != without.Growable
}

// fitsAnywhere reports whether a group's pod fits on some empty node. If the result is false, the
// pod is never placed.
func (m *Model) fitsAnywhere(g *Group) bool {
	e := m.Eligible(g.Workload)
	m.run.Spend(len(e.Nodes) + len(e.Growth))
	for n := range m.Usable(g.Workload) {
		if Holds(n, g) {
			return true
		}
	}
	return false
}

// Modelled reports whether a group's pods take part in decisions.
func Modelled(g *Group) bool {
	return !g.Refused() && !g.Copy && !g.Superseded && !g.Unknown.Given() && (g.Count.Known || g.Kind.PerNode())
}

// Placeable reports whether the scheduler still has to place the group's pods. They must take part
// in decisions and must not be running yet.
func (g *Group) Placeable() bool { return Modelled(g) && !g.Running }

// Placeable yields the groups whose pods the scheduler has to place.
func (m *Model) Placeable() iter.Seq[*Group] {
	return func(yield func(*Group) bool) {
		for _, w := range m.Workloads {
			if g := m.Groups[w]; g.Placeable() && !yield(g) {
				return
			}
		}
	}
}

// Apart keeps two workloads' pods in different domains of a topology key. A controller adds this
// rule to the pods, so no manifest contains it (R-W25).
type Apart struct {
	A, B *workload.Workload
	Key  string
}

// Elsewhere returns the workloads that may or may not be deployed. Selectors find them, so a rule
// that selects only these workloads is not reported as matching no pods. They take no part in
// decisions. Every answer that depends on them is unknown.
func (m *Model) Elsewhere() []*workload.Workload { return m.elsewhere }

// RunningOnes returns the running workloads that take part in decisions.
func (m *Model) RunningOnes() []*workload.Workload {
	return slices.DeleteFunc(slices.Clone(m.Workloads), func(w *workload.Workload) bool { return !w.Running || !Modelled(m.Groups[w]) })
}

// View is one possible set of nodes in the cluster. The small view has the declared nodes. The
// large view adds all nodes that growing pools could add if every zone grew at once, which may be
// more nodes than can exist together. An upper bound for the large view is never too low, because
// SpreadRule ignores any harm that an added node could do.
type View struct {
	Nodes []*topology.Node
	// From holds, for each declared node, its index i in Topology.Nodes. For an added node, it
	// holds -1-i, where i is the index of the pool and zone in Topology.Growth.
	From []int
	// pools lists the growing pools and their maximum sizes.
	pools []PoolSize
	// Partial is set if some pool can grow beyond the view.
	Partial bool
}

// maxGrown is the maximum number of added nodes per pool and zone in a view. Nothing is reported as
// impossible if a pool can grow beyond that.
const maxGrown = 5000

// maxView is the maximum number of added nodes in a view across all pools.
const maxView = 20_000

// newView returns the large view for the pods of workloads, or the small view if there are none.
//
// Of a pool without a bound, the view has two nodes for each pod. An update has at most twice the
// pods, and each placement on more nodes of the pool is also one on these, with other names (T32).
func newView(topo *topology.Topology, ws []*workload.Workload) *View {
	v := &View{Nodes: make([]*topology.Node, 0, len(topo.Nodes)), From: make([]int, 0, len(topo.Nodes))}
	for i, n := range topo.Nodes {
		v.Nodes, v.From = append(v.Nodes, n), append(v.From, i)
	}
	enough := 1
	for _, w := range ws {
		switch {
		case w.Kind.PerNode():
		case w.Scale != nil:
			enough += 2 * min(w.Scale.Max, maxGrown)
		case w.Count.Known:
			enough += 2 * min(w.Count.N, maxGrown)
		default:
			enough += maxGrown
		}
	}
	for i, g := range topo.Growth {
		p := g.Node.Pool
		if len(ws) == 0 {
			break
		}
		if size := (PoolSize{p.Name, p.Max}); len(v.pools) == 0 || v.pools[len(v.pools)-1] != size {
			v.pools = append(v.pools, size)
		}
		most := g.Extra
		if p.Max == topology.Unbounded {
			most = min(most, enough)
		}
		more := min(most, maxGrown, maxView+len(topo.Nodes)-len(v.Nodes))
		v.Partial = v.Partial || most > more
		for k := range more {
			v.Nodes, v.From = append(v.Nodes, Another(g.Node, k)), append(v.From, -1-i)
		}
	}
	return v
}

// Grown returns the nodes that exist if every pool has its maximum size in each of its zones, and
// the pool sizes. It returns false if no pool can grow, or if a pool can grow beyond the view.
func (m *Model) Grown() (nodes []*topology.Node, growth []PoolSize, ok bool) {
	if len(m.Views) < 2 || m.Views[1].Partial {
		return nil, nil, false
	}
	return m.Views[1].Nodes, m.Views[1].Growth(), true
}

// Another returns a node that differs from n only in its name and in labels that have it as value.
func Another(n *topology.Node, k int) *topology.Node {
	if k == 0 {
		return n
	}
	more := *n
	more.Name, more.Labels = fmt.Sprintf("%s+%d", n.Name, k), maps.Clone(n.Labels)
	keys := []string{corev1.LabelHostname}
	if n.Pool != nil {
		keys = append(keys, n.Pool.Spec.NameLabels...)
	}
	for _, key := range keys {
		if n.Labels[key] == n.Name {
			more.Labels[key] = more.Name
		}
	}
	return &more
}

// In returns a copy of a node that has another value for a topology key.
func In(n *topology.Node, key, value string) *topology.Node {
	moved := *n
	moved.Labels = maps.Clone(n.Labels)
	moved.Labels[key] = value
	return &moved
}

// Uncordoned returns a copy of a node that is not cordoned.
func Uncordoned(n *topology.Node) *topology.Node {
	open := *n
	open.Unschedulable = false
	open.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	return &open
}

// GrownBy returns the declared nodes plus the given number of additional nodes in a pool. It adds
// them to the pool's zones in turn.
func GrownBy(m *Model, p *topology.Pool, more int) []*topology.Node {
	nodes := slices.Clone(m.Topology.Nodes)
	var kinds []*topology.Node
	for _, g := range m.Topology.Growth {
		if g.Node.Pool == p {
			kinds = append(kinds, g.Node)
		}
	}
	for k := range more {
		nodes = append(nodes, Another(kinds[k%len(kinds)], k/len(kinds)))
	}
	return nodes
}

// Passes returns the filter results for the i-th node in the view.
func (v *View) Passes(e *Eligibility, i int) Passes {
	if from := v.From[i]; from >= 0 {
		return e.Nodes[from]
	} else {
		return e.Growth[-1-from]
	}
}

// Growth returns the sizes of the growing pools in the view, or nil if there are none.
func (v *View) Growth() []PoolSize { return v.pools }

// PoolSize pairs a pool name with a node count.
type PoolSize struct {
	Pool  string
	Nodes int
}
