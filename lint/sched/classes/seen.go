package classes

import (
	"encoding/binary"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// seen lists what some workloads see of nodes: signatures of node rules, resources, and
// topology keys.
type seen struct{ signatures, resources, keys []string }

// appendText appends a text with its length, so that different lists of texts stay different.
func appendText[T ~string](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// ruleKeys yields the keys whose domains the hard rules of a group distinguish, possibly
// with repeats.
func ruleKeys(g *model.Group) iter.Seq[string] {
	return func(yield func(string) bool) {
		for t := range g.HardTerms() {
			if !yield(t.Key) {
				return
			}
			for _, r := range t.Sel.Reqs {
				if model.BoundLabel(r.Key) && !yield(r.Key) {
					return
				}
			}
		}
	}
}

// id returns a text that identifies the lists.
func (s *seen) id() string {
	var text []byte
	for _, list := range [][]string{s.signatures, s.resources, s.keys} {
		text = binary.AppendUvarint(text, uint64(len(list)))
		for _, x := range list {
			text = appendText(text, x)
		}
	}
	return string(text)
}

// asked returns the node rules, resources and labels by which workloads distinguish
// nodes. The signature of a running or bound pod includes the name of its node.
func asked(m *model.Model, ws []*workload.Workload, key string) *seen {
	m.Run().Spend(4 * len(ws))
	s := &seen{signatures: make([]string, 0, len(ws)), resources: make([]string, 1, 4), keys: make([]string, 0, 4)}
	s.resources[0] = string(corev1.ResourcePods)
	if key != "" {
		s.keys = append(s.keys, key)
	}
	for _, w := range ws {
		g := m.Groups[w]
		s.signatures = appendNew(s.signatures, g.Signature)
		for i := range g.Requests {
			s.resources = appendNew(s.resources, string(g.Requests[i].Name))
		}
		for key := range ruleKeys(g) {
			s.keys = appendNew(s.keys, key)
		}
	}
	for _, list := range []*[]string{&s.signatures, &s.resources, &s.keys} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s
}

// appendNew appends a text unless it is one of the last few; most workloads see the
// same.
func appendNew(to []string, text string) []string {
	const few = 8
	if slices.Contains(to[max(0, len(to)-few):], text) {
		return to
	}
	return append(to, text)
}

// Look returns a text for how a workload sees nodes: workloads with equal texts distinguish
// the same nodes.
func Look(g *model.Group) string {
	text := appendText(appendText(nil, g.Signature), g.Request)
	for key := range ruleKeys(g) {
		text = appendText(text, key)
	}
	return string(text)
}
