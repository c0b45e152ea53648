package model

import (
	"fmt"
	"maps"
	"math/bits"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// Pods is a set of pods of one workload: bit i is the i-th pod, and AllPods means all pods,
// however many there are.
type Pods uint64

// AllPods is the set of all pods of a workload.
const AllPods Pods = 1<<maxSplit - 1

// Below counts the first n pods of a workload that are in the set.
func (p Pods) Below(n int) int {
	if p == AllPods {
		return n
	}
	return bits.OnesCount64(uint64(p & (1<<min(n, maxSplit) - 1)))
}

// PodSelector returns the pods of a workload that a label selector selects in any namespace.
type PodSelector func(w *workload.Workload) (Pods, Answer)

// PodSelector compiles the selector of an object without pods of its own, such as a
// PodDisruptionBudget. It distinguishes the pods of a StatefulSet by index and name, if they
// are few (R-W2).
func (m *Model) PodSelector(s *metav1.LabelSelector) PodSelector {
	sel := newSelector(s)
	apart := false
	for _, r := range sel.Reqs {
		apart = apart || r.Key == podIndex || r.Key == PodName
	}
	return func(w *workload.Workload) (Pods, Answer) {
		m.run.Spend(3 + sel.Cost())
		answer := sel.Matches(w, w, false)
		n := w.Count.N
		if w.Scale != nil {
			n = w.Scale.Max
		}
		start, known := firstOrdinal(w)
		if answer != Maybe || !apart || w.Kind.Kind != "StatefulSet" || !w.Count.Known || n > maxSplit || !known {
			return AllPods, answer
		}
		m.run.Spend(n * sel.Cost())
		var some Pods
		for i := range n {
			pod := *w
			pod.Labels = numbered(w, podIndex, start+i)
			switch sel.Matches(&pod, &pod, false) {
			case Maybe:
				return AllPods, Maybe
			case Yes:
				some |= 1 << i
			}
		}
		switch some.Below(n) {
		case 0:
			return 0, No
		case n:
			return AllPods, Yes
		}
		return some, Yes
	}
}

// firstOrdinal returns the ordinal of the first pod of a StatefulSet, if it is known.
func firstOrdinal(w *workload.Workload) (start int, known bool) {
	at := w.Object.Root.At("spec", "ordinals", "start")
	n, known := at.Int()
	return int(n), known || at.IsNull()
}

// numbered returns the labels of the pod of a workload with the given index (R-W2).
func numbered(w *workload.Workload, index string, n int) map[string]string {
	labels := maps.Clone(w.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if labels[index] = strconv.Itoa(n); index == podIndex {
		labels[PodName] = fmt.Sprintf("%s-%d", w.Object.Name, n)
	}
	return labels
}
