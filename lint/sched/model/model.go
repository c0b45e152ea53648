package model

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Model is the workloads and the nodes of one cluster.
type Model struct {
	// Workloads are in the order of their names.
	Workloads  []*workload.Workload
	Namespaces map[string]map[string]string
	// Topology is nil or empty where no node is declared.
	Topology *topology.Topology

	run    *Run
	Groups map[*workload.Workload]*Group
	Index  *labelIndex
	// elsewhere are workloads that may be there or not.
	elsewhere []*workload.Workload

	*perNodes
	excluded map[excludedKey][]Exclusion
	// Parts is what split has made of the model, whole what it was made of.
	Parts, whole *Model
	// StandFor are the places of the workloads that stand for one, running those of
	// what runs: see takingPart.
	StandFor map[*workload.Workload][]int
	Running  []int
	// permanent is the model without the workloads whose pods end, absent those of
	// which pods may be there that take no part in a decision: see Permanent.
	WithoutFinite *Model
	absent        *labelIndex
	// Members are the workloads that one stands for: see merge.
	Members map[*workload.Workload][]*workload.Workload
	byName  map[string]int
	// Apart are pairs that no term keeps apart.
	Apart []Apart
	// Kept is what other packages keep about the model: see Keep.
	Kept map[any]any
}

// perNodes is what rests on the nodes alone: models of other workloads on the same nodes
// share it.
type perNodes struct {
	eligible map[string]*Eligibility
	Views    []*View
	domains  map[DomainKey]map[string]bool
	numbers  map[string]domainNumbers
	offered  map[corev1.ResourceName][]int64
	// kept is what other packages keep: see KeepForNodes.
	kept map[any]any
}

func newPerNodes(topo *topology.Topology) *perNodes {
	return &perNodes{
		eligible: map[string]*Eligibility{}, Views: newViews(topo), domains: map[DomainKey]map[string]bool{},
		numbers: map[string]domainNumbers{}, offered: map[corev1.ResourceName][]int64{}, kept: map[any]any{},
	}
}

// Group is a workload with its terms made ready: all its pods are alike but
// for the labels that differ from pod to pod.
type Group struct {
	*workload.Workload
	// Terms are all pod affinity and anti-affinity terms and spread constraints
	// in the order of the manifest.
	Terms []*Term
	// Requests are what one pod asks for, HostPorts the ports that it takes.
	Requests  []Request
	HostPorts []HostPort
	// spreadKeys are the keys of all hard spread constraints, sortedKeys the same each
	// once, and keysID stands for them.
	spreadKeys, sortedKeys []string
	KeysID                 string
	// Signature and request are equal for groups with equal node rules and
	// equal requests.
	Signature, Request string
	// Unknown is why no verdict on placement can be given, if none can.
	Unknown Reason
	// Whole is the workload of which this is one pod, the one at that position;
	// after is the pod that has to be placed before this one is created (R-W11).
	Whole, After *workload.Workload
	Position     int
}

// NewModel makes the terms of all workloads ready.
func NewModel(set *workload.Set, topo *topology.Topology) *Model {
	return newModel(newRun(topo), set, topo, newPerNodes(topo), nil)
}

// newModel is NewModel for a model of a run that has begun, on nodes of which something
// may be known, as may be of workloads.
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
		m.ready(w)
	}
	m.openNamespaces()
	m.absent = withoutWorkloads(m, func(g *Group) bool { return !Modelled(g) })
	return m
}

// ready makes the terms of a workload ready.
func (m *Model) ready(w *workload.Workload) {
	g := &Group{Workload: w, Terms: terms(w)}
	m.Groups[w] = g
	defer func() { g.Unknown = m.unknown(g) }()
	m.run.Spend(StepsPerGroup * (1 + len(g.Terms)))
	g.findKeys()
	if !m.Topology.Empty() {
		g.Requests, g.HostPorts, g.Signature = Requests(w), hostPorts(w), signature(w)
		g.Request = textOf(g.Requests)
	}
}

// Guest makes a copy of a workload known to the model, which may then be asked about it;
// selectors find the workload still. The model forgets it when leave is called.
func (m *Model) Guest(w *workload.Workload) (leave func()) {
	m.ready(w)
	return func() { delete(m.Groups, w) }
}

// Run is what the model shares with all others that were made of it.
func (m *Model) Run() *Run { return m.run }

// Keep is what a package keeps about a model, of a type that is its own: made when it
// is first asked for. It lives as long as the model.
func Keep[T any](m *Model, make func() *T) *T { return keep(m.Kept, make) }

// KeepForNodes is Keep for what does not depend on which workloads there are: models of
// other workloads on the same nodes share it.
func KeepForNodes[T any](m *Model, make func() *T) *T { return keep(m.perNodes.kept, make) }

// KeepInRun is Keep for what all models of a run share.
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

// ordered are workloads by name: the order of the input is to decide nothing.
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

// Group is the workload with its terms made ready.
func (m *Model) Group(w *workload.Workload) *Group { return m.Groups[w] }

// defaultScheduler is the profile whose filters are known (R-N41).
const defaultScheduler = "default-scheduler"

// unknown is why the placement of a workload cannot be judged, if it cannot.
func unknown(w *workload.Workload) Reason {
	switch {
	case w.Elsewhere:
		return Reason{Cause: ByContext}
	case w.Refused():
		return Reason{Cause: ByRejection}
	case w.Running && len(w.Open) == 0: // however it came to its node
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
		return Reason{Cause: ByField, Name: "restartPolicy"} // so whether the pod ends by itself
	}
	return Reason{}
}

// unknown is why the placement of a group on the nodes of the model cannot be judged.
func (m *Model) unknown(g *Group) Reason {
	why := unknown(g.Workload)
	if why.Given() || m.Topology.Empty() {
		return why
	}
	keys := SortedKeys(g.Spec.NodeSelector)
	if a := g.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, r := range term.MatchExpressions {
				keys = append(keys, r.Key)
			}
		}
	}
	for _, t := range g.Terms {
		if t.Hard {
			keys = append(keys, t.Key)
		}
	}
	if i := slices.IndexFunc(keys, m.Topology.Uncertain); i >= 0 {
		return Reason{Cause: ByNodeLabel, Name: keys[i]}
	}
	switch {
	case g.Admission != "" && m.fitsAnywhere(g):
		return Reason{Cause: ByAdmission, Name: g.Admission}
	case g.Admission == "" && g.OpenClass() && m.classDecides(g) && m.fitsAnywhere(g):
		return Reason{Cause: ByAdmission, Name: "RuntimeClass " + g.Spec.RuntimeClassName + ", which is not declared"}
	}
	return why
}

// classDecides reports whether a node takes the pods only if their RuntimeClass, of which
// nothing is known, brings a toleration (R-N39).
func (m *Model) classDecides(g *Group) bool {
	own := *g.Workload
	own.PlainClass = true
	defer m.Guest(&own)()
	with, without := m.Eligible(g.Workload), m.Eligible(&own)
	return with.Count != without.Count || with.Growable != without.Growable
}

// fitsAnywhere reports whether some node takes a pod of a group when it is empty. Where none
// does, none takes one that asks for more or that is refused, and no other pod is in its way.
func (m *Model) fitsAnywhere(g *Group) bool {
	e := m.Eligible(g.Workload)
	m.run.Spend(len(e.Nodes) + len(e.Growth))
	for i, n := range m.Topology.Nodes {
		if e.Nodes[i].All() && Holds(n, g) {
			return true
		}
	}
	for i, growth := range m.Topology.Growth {
		if e.Growth[i].All() && Holds(growth.Node, g) {
			return true
		}
	}
	return false
}

// Modelled reports whether the pods of a group take part in a decision.
func Modelled(g *Group) bool {
	return !g.Refused() && !g.Copy && !g.Superseded && !g.Unknown.Given() && (g.Count.Known || g.Kind.PerNode())
}

// Apart keeps the pods of two workloads out of one another's domains of a key,
// as a controller does that adds a term of its own to pods which no manifest
// shows (R-W25).
type Apart struct {
	A, B *workload.Workload
	Key  string
}
