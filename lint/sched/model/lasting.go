package model

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Cause returns the cause to report if the doubt makes a verdict unknown.
func (d *Doubt) Cause() Cause {
	switch {
	case d.Resource != "":
		return ByResource
	case d.Key != "" && d.Variable:
		return ByVariable
	case d.Key != "":
		return ByLabel
	case d.Why.Given():
		return ByUnknown
	}
	return ByFinite
}

// Judged reports whether a workload's placement can be judged. Nodes must be declared. The number
// of pods and all their placement rules must be known. The pods must not be running yet.
func (m *Model) Judged(w *workload.Workload) bool {
	return !m.Topology.Empty() && !m.Groups[w].Unknown.Given() && !w.Running && (w.Count.Known || w.Kind.PerNode())
}

// Doubt is a hard term or a request that makes an answer unknown. If Key is set, only the cluster
// knows the value of the label Key, so Term may or may not select the target's pods. If Key is
// empty, Term may depend on target pods that take no part in decisions. If Why is set, it explains
// why they take no part. If Why is empty, those pods finish.
type Doubt struct {
	Workload *workload.Workload
	Term     *Term
	Target   *workload.Workload
	Key      string
	Why      Reason
	// Variable is set if the label's value contains a placeholder.
	Variable bool
	// Namespace is set if Key is a label of this namespace, which no manifest declares.
	Namespace string
	// Resource is an extended resource that is requested but listed by no node. If it is set, Term
	// and Target are nil.
	Resource corev1.ResourceName
}

// Certain returns how many pods a workload is certain to have. An active autoscaler may remove all
// pods beyond its minimum (R-W18).
func Certain(w *workload.Workload) int {
	least, _ := w.Pods()
	return least
}

// Lasting reports whether a group has pods that do not finish and are not placed yet.
func Lasting(g *Group) bool {
	return g.Placeable() && !g.Finite() && (g.Kind.PerNode() || g.Count.N > 0)
}

// Permanent returns the model without the workloads whose pods finish. Such pods release their
// resources, so they block other pods only for a time. Pods that wait for them proceed later (R-Q3,
// R-Q4). Every state with finishing pods can also be reached without them. Only required affinity
// and spread constraints can make their effect permanent. A rule that selects finishing pods
// therefore makes the answer unknown. The same applies to a rule that selects declared pods about
// which too little is known. If there is nothing to omit, Permanent returns the model itself.
func (m *Model) Permanent() *Model {
	if m.WithoutFinite != nil {
		return m.WithoutFinite
	}
	ws := slices.DeleteFunc(slices.Clone(m.Workloads), (*workload.Workload).Finite)
	p := m
	if len(ws) < len(m.Workloads) {
		without := *m
		p = &without
		p.Workloads, p.Index, p.Parts, p.Kept = ws, NewLabelIndex(ws), nil, map[any]any{}
		p.StandFor = nil // it holds indices into Workloads
		p.absent = withoutWorkloads(m, func(g *Group) bool { return g.Finite() || !Modelled(g) })
		p.WithoutFinite = p
	}
	m.WithoutFinite = p
	return p
}

// withoutWorkloads indexes the workloads that may have pods and for which out returns true. It
// returns nil if there are none.
func withoutWorkloads(m *Model, out func(*Group) bool) *labelIndex {
	var ws []*workload.Workload
	for _, w := range slices.Concat(m.Workloads, m.elsewhere) {
		if g := m.Groups[w]; out(g) && mayExist(g) {
			ws = append(ws, w)
		}
	}
	if len(ws) == 0 {
		return nil
	}
	return NewLabelIndex(ws)
}

// mayExist reports whether a group may ever have pods.
func mayExist(g *Group) bool {
	return !g.Refused() && !g.Copy && !g.Superseded && (!g.Count.Known || g.Count.N > 0)
}

// LeansOn returns the doubts about one hard term. The term may require or count pods that take no
// part in decisions.
func (m *Model) LeansOn(t *Term, g *Group) []Doubt {
	switch {
	case !t.Hard || m.absent == nil || g.Spec.NodeName != "" || t.Use == AntiAffinity:
		return nil
	case t.Use == Spread && (t.Sel.Form != FormSet || g.Kind.PerNode()): // never rejects a pod (R-T5, R-N31)
		return nil
	}
	var all []Doubt
	for _, list := range m.absent.Candidates(t, g.Workload) {
		for _, w := range list {
			if m.Peer(t, g.Workload, w) != No && !Same(w, g.Origin()) {
				all = append(all, Doubt{Workload: g.Workload, Term: t, Target: w, Why: m.reasonAbsent(w)})
			}
		}
	}
	return all
}

// Absent returns a workload that a soft term may select but that takes no part in decisions. It
// ignores pods that finish, and returns nil if it finds no workload.
func (m *Model) Absent(t *Term, g *Group) *workload.Workload {
	if m.absent == nil {
		return nil
	}
	for _, list := range m.absent.Candidates(t, g.Workload) {
		for _, w := range list {
			if !w.Finite() && !Same(w, g.Origin()) && m.Peer(t, g.Workload, w) != No {
				return w
			}
		}
	}
	return nil
}

// Doubts returns the doubts about the hard rules in the given workloads. Each doubt makes the
// outcome unknown.
func (m *Model) Doubts(ws []*workload.Workload) []Doubt {
	var all []Doubt
	for _, w := range ws {
		for t := range m.Groups[w].HardTerms() {
			all = append(all, m.LeansOn(t, m.Groups[w])...)
			for o, key := range m.Doubtful(t, w) {
				if m.Present(m.Groups[o]) {
					all = append(all, m.DoubtAbout(t, w, o, key))
				}
			}
		}
	}
	return all
}

// Doubtful yields the workloads that a term may or may not select. For each workload it yields the
// key of the label that decides this. Only the cluster knows the label's value.
func (m *Model) Doubtful(t *Term, owner *workload.Workload) iter.Seq2[*workload.Workload, string] {
	return func(yield func(w *workload.Workload, key string) bool) {
		if !m.MaybeDoubtful(t, owner) {
			return
		}
		for _, list := range m.Index.Candidates(t, owner) {
			m.run.Spend(len(list) * t.Sel.Cost())
			for _, w := range list {
				key := t.Sel.Doubtful(owner, w)
				if key == "" {
					key = m.openNamespace(t, owner, w)
				}
				if key != "" && !yield(w, key) {
					return
				}
			}
		}
	}
}

// DoubtAbout returns the doubt that Doubtful yields as a target and a key.
func (m *Model) DoubtAbout(t *Term, owner, target *workload.Workload, key string) Doubt {
	d := Doubt{Workload: owner, Term: t, Target: target, Key: key, Variable: t.Sel.Variable(target, key)}
	if m.openNamespace(t, owner, target) == key && t.Sel.Doubtful(owner, target) == "" {
		d.Namespace, d.Variable = workload.Space(target.Namespace()), false
	}
	return d
}

// openNamespace returns the key of a label of the target's namespace that decides whether a term selects
// the target's pods, or "". No manifest declares the namespace then, so only the cluster knows its labels
// (R-A3).
func (m *Model) openNamespace(t *Term, owner, target *workload.Workload) string {
	ns := workload.Space(target.Namespace())
	if _, declared := m.Namespaces[ns]; declared || !t.ns.named() || slices.Contains(t.Namespaces, ns) ||
		t.Sel.Matches(owner, target, false) == No && t.Sel.Matches(owner, target, true) == No || selectsByLabels(m, &t.ns, ns) != Maybe {
		return ""
	}
	return t.ns.Reqs[slices.IndexFunc(t.ns.Reqs, func(r Requirement) bool { return r.Key != metav1NameLabel })].Key
}

// named reports whether a namespace selector has conditions on labels other than the name, and the
// scheduler heeds them.
func (s *selector) named() bool {
	return s.Form == FormSet && !s.negative() && slices.ContainsFunc(s.Reqs, func(r Requirement) bool { return r.Key != metav1NameLabel })
}

// MaybeDoubtful reports whether a term has a condition on a label whose value is unknown for some
// workload or namespace.
func (m *Model) MaybeDoubtful(t *Term, owner *workload.Workload) bool {
	m.run.Spend(t.Sel.Cost())
	return t.ns.named() || slices.ContainsFunc(t.Sel.Reqs, func(r Requirement) bool {
		return r.Own || m.Index.opens(t, owner, r.Key) || slices.ContainsFunc(r.Values, source.Placeholder)
	})
}

// reasonAbsent returns the reason why a workload takes no part in decisions. The reason may be
// empty for pods that run to completion.
func (m *Model) reasonAbsent(w *workload.Workload) Reason {
	why := unknown(w)
	if g := m.Groups[w]; g != nil { // a variant has no groups for absent workloads
		why = g.Unknown
	}
	switch {
	case !why.Given() && !w.Count.Known && !w.Kind.PerNode():
		return Reason{Cause: ByCount}
	case why.Given() || w.Finite():
		return why
	}
	return Reason{Cause: ByPlacement}
}

// Variant returns a model of other workloads and nodes in the same namespaces.
func (m *Model) Variant(ws []*workload.Workload, nodes []*topology.Node, apart ...Apart) *Model {
	topo := m.Topology.Only(nodes)
	known := m.perNodes
	same := len(nodes) == len(m.Topology.Nodes) && (len(nodes) == 0 || &nodes[0] == &m.Topology.Nodes[0]) // the same slice in memory
	if m.Topology.Elastic() || !same {
		known = newPerNodes(topo, ws)
	}
	v := newModel(m.run, &workload.Set{Workloads: ws, Namespaces: m.Namespaces}, topo, known, nil)
	v.Apart = apart
	v.absent = m.absent
	return v
}

// AtCount returns the model for the declared number of nodes, or nil if no pool can grow or no node
// is declared.
func (m *Model) AtCount() *Model {
	if !m.Topology.Elastic() || len(m.Topology.Nodes) == 0 {
		return nil
	}
	topo := *m.Topology
	topo.Growth = nil
	return newModel(m.run, &workload.Set{Workloads: m.Workloads, Namespaces: m.Namespaces, Elsewhere: m.elsewhere}, &topo, newPerNodes(&topo, nil), nil)
}

// Beside returns a model of other workloads on the same nodes and growing pools.
func (m *Model) Beside(ws []*workload.Workload) *Model {
	return newModel(m.run, &workload.Set{Workloads: ws, Namespaces: m.Namespaces}, m.Topology, m.perNodes, m.Groups)
}

// MaybeApart reports whether a hard rule may or may not keep a workload's pods apart. The answer
// then depends on an unknown value in the rule's selector or in the pods' labels.
func (m *Model) MaybeApart(w *workload.Workload) bool {
	return slices.ContainsFunc(m.Group(w).Terms, func(t *Term) bool {
		return t.Hard && t.Use != Affinity && m.Peer(t, w, w) == Maybe
	})
}
