package classes

import (
	"encoding/binary"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// seen is what some workloads look at: nodes through their node rules, resources, and
// domains of keys.
type seen struct{ signatures, resources, keys []string }

// appendText appends a text so that no two lists of texts look the same.
func appendText[T ~string](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// toldBy are the keys of the domains that hard rules of a group tell apart, as often as
// they say so.
func toldBy(g *model.Group) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, t := range g.Terms {
			if !t.Hard {
				continue
			}
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

// id stands for it.
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

// asked are the node rules, the resources and the labels by which workloads
// tell nodes apart. A pod that is in place or bound tells its node by its name.
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
		for key := range toldBy(g) {
			s.keys = appendNew(s.keys, key)
		}
	}
	for _, list := range []*[]string{&s.signatures, &s.resources, &s.keys} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s
}

// appendNew appends a text unless it is one of the last few: most workloads look at the
// same.
func appendNew(to []string, text string) []string {
	const few = 8
	if slices.Contains(to[max(0, len(to)-few):], text) {
		return to
	}
	return append(to, text)
}

// Look stands for how a workload looks at nodes: those of which it is the same tell the
// same nodes apart.
func Look(g *model.Group) string {
	text := appendText(appendText(nil, g.Signature), g.Request)
	for key := range toldBy(g) {
		text = appendText(text, key)
	}
	return string(text)
}
