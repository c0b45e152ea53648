package model

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Choice is about the volumes of one claim, or of one claim template, that are made before their
// pods are scheduled (R-N35).
type Choice struct {
	*workload.Early
	// Users lists the workloads whose pods use the claim.
	Users []*workload.Workload
	// Pods lists the ordinals whose pods have a volume of their own. It is nil if all pods use one.
	Pods []int
	// Values lists the values of the node label Key for which a volume may be made.
	Values []string
	// Alike is set if the ordinals make no difference otherwise.
	Alike bool
}

// Volumes returns the number of volumes.
func (c *Choice) Volumes() int { return max(1, len(c.Pods)) }

// Choices lists what provisioners choose for the workloads whose placement is unknown for no other
// reason than where their volumes are made before their pods are scheduled.
func (m *Model) Choices() []Choice {
	if m.Topology.Empty() || !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return len(w.Early) > 0 }) {
		return nil
	}
	return *Keep(m, func() *[]Choice {
		var all []Choice
		byClaim := map[[2]string]int{}
		for _, w := range m.Workloads {
			if g := m.Groups[w]; len(w.Early) == 0 || g.Unknown.Cause != ByVolume || w.Kind.PerNode() || !m.onlyEarly(w) {
				continue
			}
			own := m.choicesOf(w)
			for _, c := range own {
				id := [2]string{workload.Space(w.Namespace()), c.Claim.Name}
				at, known := byClaim[id]
				switch own := c.Claim.Template || c.Claim.Ephemeral; {
				case known && !own:
					all[at].Users = append(all[at].Users, w)
					continue
				case !own:
					byClaim[id] = len(all)
				}
				c.Users = []*workload.Workload{w}
				all = append(all, c)
			}
		}
		return &all
	})
}

// Chooses reports whether there is a choice about the volumes of a workload.
func (m *Model) Chooses(w *workload.Workload) bool {
	return len(w.Early) > 0 && slices.ContainsFunc(m.Choices(), func(c Choice) bool { return slices.Contains(c.Users, w) })
}

// onlyEarly reports whether a workload's placement is known once its volumes are made.
func (m *Model) onlyEarly(w *workload.Workload) bool {
	c := withVolumesMade(w)
	defer m.Guest(c)()
	return !m.Groups[c].Unknown.Given()
}

// withVolumesMade returns a copy of a workload whose Early volumes exist in unknown places. If no
// other volume waits for the first pod, none pins the pods.
func withVolumesMade(w *workload.Workload) *workload.Workload {
	c := *w
	if c.Early = nil; !slices.ContainsFunc(w.Claims, func(c *workload.Claim) bool {
		early := slices.ContainsFunc(w.Early, func(e *workload.Early) bool { return e.Claim == c })
		return !c.Bound && !c.Ephemeral && c.Pinned != storage.PinFree && !early
	}) {
		c.Pin, c.OpenPin, c.SharedPin = "", "", false
	}
	return &c
}

// choicesOf returns the choices about the claims of a workload, or nil if one of them is not known. A
// provisioner that is no CSI driver may refuse to make a volume on a node that is not known yet.
func (m *Model) choicesOf(w *workload.Workload) (own []Choice) {
	start, known := w.FirstOrdinal()
	for _, e := range w.Early {
		values, _ := m.Early(w, e)
		grown := e.Values == nil && slices.ContainsFunc(m.Topology.Growth, func(g topology.Growth) bool { return !slices.Contains(values, g.Node.Labels[e.Key]) })
		local := e.Key == corev1.LabelHostname && strings.Contains(e.Class.Root.Get("provisioner").Text(), "/")
		running := slices.ContainsFunc(m.Workloads, func(o *workload.Workload) bool {
			return o.Running && workload.Space(o.Namespace()) == workload.Space(w.Namespace()) &&
				slices.ContainsFunc(o.Claims, func(c *workload.Claim) bool { return c.Name == e.Claim.Name })
		})
		maybe := e.Values == nil && slices.ContainsFunc(m.Topology.Nodes, func(n *topology.Node) bool { // a tainted node, on which the driver may run
			value, has := n.Labels[e.Key]
			return has && !slices.Contains(values, value)
		})
		if len(values) == 0 || maybe || e.Differs || grown || local || running || source.Placeholder(e.Claim.Name) {
			return nil
		}
		if e.Claim.Ephemeral && (w.Count.N != 1 || w.Scale != nil) {
			return nil // each pod has a volume of its own
		}
		c := Choice{Early: e, Values: values}
		if e.Claim.Template {
			if !known || w.Kind.VM || w.Scale != nil || w.Count.N > maxSplit {
				return nil
			}
			for i := range w.Count.N {
				if !e.Made[start+i] {
					c.Pods = append(c.Pods, start+i)
				}
			}
			if len(c.Pods) == 0 {
				continue
			}
			c.Alike = len(w.Early) == 1 && w.OrdinalReaches == nil && len(m.AskedFor()) == 0 &&
				w.Object.Root.At("spec", "podManagementPolicy").Text() == "Parallel"
		}
		own = append(own, c)
	}
	return own
}

// Started returns the model for questions that begin when all pods run. By then, the volumes of the
// Choices exist. Unless others share a claim, each pod may have started on any node, since a volume may
// have been made there. Started returns the model itself if there is no choice.
func (m *Model) Started() *Model {
	all := m.Choices()
	if len(all) == 0 {
		return m
	}
	groups := maps.Clone(m.Groups)
	for _, c := range all {
		for _, w := range c.Users {
			run := *w
			run.Early = slices.DeleteFunc(slices.Clone(w.Early), func(e *workload.Early) bool { return !e.Claim.Ephemeral }) // a new pod has a new volume
			leave := m.Guest(&run)
			g := *m.Groups[w]
			g.Unknown, groups[w] = m.Groups[&run].Unknown, &g
			leave()
		}
	}
	s := newModel(m.run, &workload.Set{Workloads: m.Workloads, Namespaces: m.Namespaces, Elsewhere: m.elsewhere}, m.Topology, m.perNodes, groups)
	s.Apart = m.Apart
	return s
}

// Fixed returns the model in which the workloads in pods have these numbers of pods instead of an
// autoscaler, on the same nodes and growing pools. The map holds the workloads of the new model.
func (m *Model) Fixed(pods map[*workload.Workload]int) (*Model, map[*workload.Workload]*workload.Workload) {
	m.run.Spend(StepsPerGroup * len(m.Workloads) / PerStep)
	var ws []*workload.Workload
	of := map[*workload.Workload]*workload.Workload{}
	for _, w := range m.Workloads {
		if of[w] = w; w.Scale != nil {
			if n, fixed := pods[w]; fixed {
				c := *w
				c.Scale, c.Early = nil, nil
				c.Count.N, c.Count.Known = n, true
				of[w] = &c
			}
		}
		ws = append(ws, of[w])
	}
	f := newModel(m.run, &workload.Set{Workloads: ws, Namespaces: m.Namespaces, Elsewhere: m.elsewhere}, m.Topology, m.perNodes, m.Groups)
	f.Apart = m.Apart
	return f, of
}

// Chosen returns the model of the workloads in ws if volumes are made for the given values, which are
// listed choice by choice. If values is nil, the volumes may be anywhere. The map holds the workload
// that each copy stands for.
func (m *Model) Chosen(ws []*workload.Workload, all []Choice, values []string) (*Model, map[*workload.Workload]*workload.Workload) {
	copies := map[*workload.Workload]*workload.Workload{}
	for i := range all {
		c := &all[i]
		for _, w := range c.Users {
			one := lazy.Cached(copies, w, func() *workload.Workload { return withVolumesMade(w) })
			if values != nil {
				c.restrict(one, values[:c.Volumes()])
			}
		}
		if values != nil {
			values = values[c.Volumes():]
		}
	}
	set := &workload.Set{Namespaces: m.Namespaces, Elsewhere: m.elsewhere}
	of := map[*workload.Workload]*workload.Workload{}
	stands := func(w *workload.Workload) *workload.Workload {
		if c := copies[w]; c != nil {
			of[c] = w
			return c
		}
		return w
	}
	for _, w := range ws {
		set.Workloads = append(set.Workloads, stands(w))
	}
	v := newModel(m.run, set, m.Topology, m.perNodes, m.Groups)
	for _, p := range m.Apart {
		v.Apart = append(v.Apart, Apart{stands(p.A), stands(p.B), p.Key})
	}
	return v, of
}

// restrict keeps the pods of a workload to the nodes that can use the volumes of its claim.
func (c *Choice) restrict(w *workload.Workload, values []string) {
	reach := func(value string) workload.Reach {
		return workload.Reach{Claim: c.Claim.Name, By: c.Class, Chosen: true, Affinity: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: c.Key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}}}
	}
	if c.Pods == nil || w.OrdinalReaches == nil && len(c.Pods) == w.Count.N && len(slices.Compact(slices.Clone(values))) == 1 {
		w.Reaches = append(slices.Clip(w.Reaches), reach(values[0]))
		return
	}
	was, is := w.OrdinalReaches, &workload.OrdinalReaches{Of: map[int][]workload.Reach{}}
	if was != nil {
		is.Of, is.Rest = maps.Clone(was.Of), was.Rest
	}
	for i, ordinal := range c.Pods {
		is.Of[ordinal] = append(slices.Clip(is.At(ordinal)), reach(values[i]))
	}
	w.OrdinalReaches = is
}
