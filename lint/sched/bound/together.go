package bound

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Together says how many pods of one workload may share a node or a zone under its hard
// rules and the resources of the declared nodes. Usable is the number of usable
// nodes, Zones the number of their zones.
type Together struct {
	Usable, Zones, OnOneNode, InOneZone int
	// Node is one of the nodes with OnOneNode pods.
	Node string
}

// TogetherOf computes what a single loss of a node or a zone can hit.
func TogetherOf(m *model.Model, w *workload.Workload) Together { return togetherIn(m, m.Views[0], w) }

// MostTogether bounds how many pods of a workload share a node and a zone at any size of
// growing pools. A spread allows fewer pods per domain with more domains, and other
// rules allow more with more nodes, so it takes the maximum of both extremes.
func MostTogether(m *model.Model, w *workload.Workload) (onNode, inZone int) {
	p := ProblemOf(m, m.Groups[w])
	for _, v := range m.Views {
		t := togetherIn(m, v, w)
		onNode, inZone = max(onNode, t.OnOneNode), max(inZone, t.InOneZone)
	}
	if len(m.Views) == 1 {
		return onNode, inZone
	}
	for _, term := range p.Spreads { // with fewer domains than minDomains only the skew counts
		if len(m.SpreadRule(m.Views[0], p.G, term).Eligible) < term.MinDomains() {
			return w.Count.N, w.Count.N
		}
	}
	if m.Views[1].Partial {
		inZone = w.Count.N
	}
	return onNode, inZone
}

func togetherIn(m *model.Model, v *model.View, w *workload.Workload) Together {
	p := ProblemOf(m, m.Groups[w])
	set := set(m, v, p.G, mode{fit: true, room: true, ports: p.ports, keys: p.G.KeysID})
	pods := p.pods(len(set.sites))
	zones := set.room(corev1.LabelTopologyZone, p.Keys)
	t := Together{Usable: len(set.sites), Zones: len(zones)}
	for i := range set.sites {
		s := &set.sites[i]
		most := s.cap
		if slices.ContainsFunc(p.Keys, func(k string) bool { return model.Carries(s.node.Labels, []string{k}) }) {
			most = min(most, 1)
		}
		if most > t.OnOneNode {
			t.OnOneNode, t.Node = most, s.node.Name
		}
	}
	t.OnOneNode = min(pods, t.OnOneNode)
	for _, most := range zones {
		t.InOneZone = max(t.InOneZone, min(pods, most))
	}
	for _, term := range p.Spreads {
		rule := m.SpreadRule(v, p.G, term)
		if !rule.Counts || rule.Foreign > 0 {
			continue
		}
		level := level(&rule, pods)
		t.OnOneNode = min(t.OnOneNode, level)
		if term.Key == corev1.LabelTopologyZone {
			t.InOneZone = min(t.InOneZone, level)
		}
	}
	return t
}

// level returns the most pods that one domain can hold once all pods are placed: a domain with
// m pods requires at least m minus the skew in each of the others.
func level(r *model.SpreadRule, pods int) int {
	skew, others := int(r.Term.Constraint.MaxSkew), len(r.Eligible)-1
	if len(r.Eligible) < r.Term.MinDomains() {
		return skew
	}
	if others <= 0 {
		return pods
	}
	if pods <= skew {
		return pods
	}
	return (pods + others*skew) / (others + 1)
}
