package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Cause is what the doubt makes of a verdict.
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

// Judged reports whether verdicts about the placement of a workload can be
// given at all: nodes are declared, the number of pods is known and so is
// everything that places them, and they are not in place already.
func (m *Model) Judged(w *workload.Workload) bool {
	return !m.Topology.Empty() && !m.Groups[w].Unknown.Given() && !w.Running && (w.Count.Known || w.Kind.PerNode())
}

// Doubt is a hard term that leaves an answer open. Either nobody can tell whether
// it selects the pods of the target: that depends on a label, Key, whose value
// only the cluster knows. Or Key is empty and it may count on pods of the target
// that take no part in a decision: because they end by themselves or, if Why is
// set, because that is not known of them.
type Doubt struct {
	Workload *workload.Workload
	Term     *Term
	Target   *workload.Workload
	Key      string
	Why      Reason
	// Variable is set if the value of the label holds a variable.
	Variable bool
	// Resource is set instead for a request of an extended resource that no node
	// lists; Term and Target are nil then.
	Resource corev1.ResourceName
}

// Certain is how many pods a workload has for sure: an autoscaler may take away all
// beyond its minimum. One that is disabled at 0 replicas is not in Scale (R-W18).
func Certain(w *workload.Workload) int {
	if w.Scale != nil {
		return w.Scale.Min
	}
	return w.Count.N
}

// Lasting reports whether a group takes part, for good.
func Lasting(g *Group) bool {
	return Modelled(g) && !g.Running && !g.Finite() && (g.Kind.PerNode() || g.Count.N > 0)
}

// Permanent is the model without the workloads whose pods end by themselves. They
// give back what they take, so they are in nobody's way for good: whatever is
// reached beside them could be reached without them, and what waits for them
// goes on once they have ended (R-Q3, R-Q4). Only company, and pods that a spread
// counts, may have an effect that lasts: a rule that selects them leaves the
// answer open, and so does one that selects declared pods of which nothing else
// is known. It is the model itself where there is nothing to leave out.
func (m *Model) Permanent() *Model {
	if m.WithoutFinite == nil {
		m.WithoutFinite = withoutFinite(m)
	}
	return m.WithoutFinite
}

func withoutFinite(m *Model) *Model {
	ws := slices.DeleteFunc(slices.Clone(m.Workloads), (*workload.Workload).Finite)
	if len(ws) == len(m.Workloads) {
		return m
	}
	p := *m
	p.Workloads, p.Index, p.Parts, p.Kept = ws, NewLabelIndex(ws), nil, map[any]any{}
	p.absent = withoutWorkloads(m, func(g *Group) bool { return g.Finite() || !Modelled(g) })
	p.WithoutFinite = &p
	return &p
}

// withoutWorkloads indexes the groups that are left out and may have pods at some time;
// nil if there are none.
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

// mayExist reports whether a group may have pods at some time.
func mayExist(g *Group) bool {
	return !g.Refused() && !g.Copy && !g.Superseded && (!g.Count.Known || g.Count.N > 0)
}

// LeansOn are the doubts of a hard term that may count on absent pods: it asks for
// their company, or counts them.
func (m *Model) LeansOn(t *Term, g *Group) []Doubt {
	switch {
	case !t.Hard || m.absent == nil || g.Spec.NodeName != "" || t.Use == AntiAffinity:
		return nil
	case t.Use == Spread && (t.Sel.Form != FormSet || g.Kind.PerNode()): // which refuse nobody (R-T5, R-N31)
		return nil
	}
	var all []Doubt
	for _, list := range m.absent.Candidates(t, g.Workload) {
		for _, w := range list {
			if m.Peer(t, g.Workload, w) != No && !same(w, g.Origin()) {
				all = append(all, Doubt{Workload: g.Workload, Term: t, Target: w, Why: m.unsettled(w)})
			}
		}
	}
	return all
}

// Doubts are those of the hard rules of some workloads, each of which leaves
// open what becomes of them: on which pods a rule counts that take no part, and
// whether it selects others.
func (m *Model) Doubts(ws []*workload.Workload) []Doubt {
	var all []Doubt
	for _, w := range ws {
		g := m.Groups[w]
		for _, t := range g.Terms {
			if !t.Hard {
				continue
			}
			all = append(all, m.LeansOn(t, g)...)
			if !m.MaybeDoubtful(t, w) {
				continue
			}
			for _, list := range m.Index.Candidates(t, w) {
				m.run.Spend(len(list) * t.Sel.Cost())
				for _, o := range list {
					if key := t.Sel.Doubtful(w, o); key != "" && m.Present(m.Groups[o]) {
						all = append(all, Doubt{Workload: w, Term: t, Target: o, Key: key, Variable: t.Sel.Variable(o, key)})
					}
				}
			}
		}
	}
	return all
}

// MaybeDoubtful reports whether a term of a workload asks for a label of which not all
// values are known.
func (m *Model) MaybeDoubtful(t *Term, owner *workload.Workload) bool {
	m.run.Spend(t.Sel.Cost())
	return slices.ContainsFunc(t.Sel.Reqs, func(r Requirement) bool {
		return r.Own || m.Index.opens(t, owner, r.Key) || slices.ContainsFunc(r.Values, source.Placeholder)
	})
}

// unsettled is why pods take no part that do not end by themselves.
func (m *Model) unsettled(w *workload.Workload) Reason {
	why := unknown(w)
	if g := m.Groups[w]; g != nil { // a variant has none of what is absent
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

// Variant is a model of other workloads on other nodes in the same namespaces,
// to ask what would be if they were these.
func (m *Model) Variant(ws []*workload.Workload, nodes []*topology.Node, apart ...Apart) *Model {
	topo := &topology.Topology{Nodes: nodes}
	known := m.perNodes
	if m.Topology.Elastic() || !oneList(nodes, m.Topology.Nodes) {
		known = newPerNodes(topo)
	}
	v := newModel(m.run, &workload.Set{Workloads: ws, Namespaces: m.Namespaces}, topo, known, nil)
	v.Apart = apart
	v.absent = m.absent
	return v
}

// oneList reports whether two lists are one.
func oneList(a, b []*topology.Node) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Beside is a model of other workloads on the same nodes, which may grow.
func (m *Model) Beside(ws []*workload.Workload) *Model {
	return newModel(m.run, &workload.Set{Workloads: ws, Namespaces: m.Namespaces}, m.Topology, m.perNodes, m.Groups)
}
