package bound

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Unmet is a required affinity term that no pod can satisfy.
type Unmet struct {
	Term *model.Term
	// Cause is missing-key, null-selector or contradiction.
	Cause string
	// Beside lists keys of other terms. No node has all of these keys and this term's key. Beside
	// is nil if no node has this term's key at all.
	Beside []string
	// Between holds two requirements that contradict each other. Other is the term that contains
	// the requirement Between[0].
	Between [2]*model.Requirement
	Other   *model.Term
}

// UnmetAffinity finds required affinity terms that can never be satisfied, whatever else runs in
// the cluster. A null selector matches no pod (R-A16). A single pod must match all terms (R-A10). A
// node that lacks one of the keys cannot accept the pod (R-A9).
func UnmetAffinity(m *model.Model, w *workload.Workload) []Unmet {
	g := m.Groups[w]
	hard := g.HardAffinity()
	_, most := w.Pods()
	if len(hard) == 0 || most == 0 && w.Count.Known && !w.Kind.PerNode() || g.Unknown.Given() || w.Running || w.Spec.NodeName != "" {
		return nil
	}
	var unmet []Unmet
	for _, t := range hard {
		if t.Sel.Form == model.FormNull {
			unmet = append(unmet, Unmet{Term: t, Cause: "null-selector"})
		}
	}
	if a, b, found := contradiction(hard); found {
		unmet = append(unmet, Unmet{Term: b.t, Cause: "contradiction", Between: [2]*model.Requirement{a.r, b.r}, Other: a.t})
	}
	return append(unmet, missingKeys(m, w, hard)...)
}

// missingKeys finds keys that no usable node has. If every key is on some usable node, missingKeys
// finds the first key that no usable node has together with the earlier keys.
func missingKeys(m *model.Model, w *workload.Workload, hard []*model.Term) []Unmet {
	if m.Topology.Empty() {
		return nil
	}
	kept := *model.KeepForNodes(m, func() *keptLabels { return &keptLabels{} })
	labels := lazy.Cached(kept, m.Groups[w].Signature, func() (all []map[string]string) { // includes nodes that a pool may add
		m.Run().Spend(len(m.Topology.Nodes) / model.PerStep)
		for n := range m.Usable(w) {
			all = append(all, n.Labels)
		}
		return all
	})
	if len(labels) == 0 {
		return nil
	}
	var unmet []Unmet
	var keys []string
	for _, t := range hard {
		if !anyCarries(labels, []string{t.Key}) {
			unmet = append(unmet, Unmet{Term: t, Cause: "missing-key"})
		}
	}
	if len(unmet) > 0 {
		return unmet
	}
	for _, t := range hard {
		if keys = append(keys, t.Key); !anyCarries(labels, keys) {
			return []Unmet{{Term: t, Cause: "missing-key", Beside: keys[:len(keys)-1]}}
		}
	}
	return nil
}

// keptLabels caches the labels of usable nodes by pod signature.
type keptLabels map[string][]map[string]string

func anyCarries(all []map[string]string, keys []string) bool {
	return slices.ContainsFunc(all, func(labels map[string]string) bool { return model.Carries(labels, keys) })
}

// origin holds a requirement and the term that contains it.
type origin struct {
	r *model.Requirement
	t *model.Term
}

// contradiction finds two requirements that no labels can satisfy together. Keys are independent,
// so it compares only requirements on the same key.
func contradiction(hard []*model.Term) (a, b origin, found bool) {
	byKey := map[string][]origin{}
	var keys []string
	for _, t := range hard {
		for i := range t.Sel.Reqs {
			r := &t.Sel.Reqs[i]
			if r.Own || slices.ContainsFunc(r.Values, source.Placeholder) {
				continue
			}
			if len(byKey[r.Key]) == 0 {
				keys = append(keys, r.Key)
			}
			byKey[r.Key] = append(byKey[r.Key], origin{r, t})
		}
	}
	for _, k := range keys {
		list := byKey[k]
		for i := range list {
			for j := range i {
				if disjoint(list[j].r, list[i].r) {
					return list[j], list[i], true
				}
			}
		}
	}
	return origin{}, origin{}, false
}

// disjoint reports whether two requirements contradict each other. No label value satisfies both of
// them, and a missing label does not either.
func disjoint(a, b *model.Requirement) bool {
	if !allowsAbsent(a) && b.Op == metav1.LabelSelectorOpDoesNotExist || !allowsAbsent(b) && a.Op == metav1.LabelSelectorOpDoesNotExist {
		return true
	}
	if a.Op != metav1.LabelSelectorOpIn {
		a, b = b, a
	}
	return a.Op == metav1.LabelSelectorOpIn && !slices.ContainsFunc(a.Values, func(v string) bool {
		switch b.Op {
		case metav1.LabelSelectorOpIn:
			return slices.Contains(b.Values, v)
		case metav1.LabelSelectorOpNotIn:
			return !slices.Contains(b.Values, v)
		}
		return b.Op == metav1.LabelSelectorOpExists
	})
}

func allowsAbsent(r *model.Requirement) bool {
	return r.Op == metav1.LabelSelectorOpNotIn || r.Op == metav1.LabelSelectorOpDoesNotExist
}

// Circle describes a workload whose required affinity leads into a cycle of workloads. The
// workloads in the cycle wait for each other.
type Circle struct {
	Workload *workload.Workload
	// Path starts with the workload and ends with the first workload that repeats. If Member is
	// set, the first and last workloads are the same.
	Path   []*workload.Workload
	Member bool
}

// Circles finds workloads whose required affinity leads into a cycle of workloads that wait for
// each other (R-Q5). A workload can start if it requires no other pod, or if its first pod needs no
// peer (R-A12). It can also start if it can join a workload that can start. Circles skips workloads
// whose affinity no declared pod satisfies, because undeclared pods may satisfy it.
func Circles(m *model.Model) []Circle {
	meets := map[*workload.Workload][]*workload.Workload{}
	var waiting []*workload.Workload
	for _, w := range m.Workloads {
		if list := waitsFor(m, w); len(list) > 0 {
			meets[w] = list
			waiting = append(waiting, w)
		}
	}
	for changed := true; changed; {
		changed = false
		waiting = slices.DeleteFunc(waiting, func(w *workload.Workload) bool {
			free := slices.ContainsFunc(meets[w], func(o *workload.Workload) bool { return meets[o] == nil })
			if free {
				delete(meets, w)
				changed = true
			}
			return free
		})
	}
	var circles []Circle
	for _, w := range waiting {
		path, member := shortest(w, meets)
		circles = append(circles, Circle{Workload: w, Path: path, Member: member})
	}
	return circles
}

// waitsFor returns the declared workloads that satisfy w's required affinity. It returns nil if w
// need not wait, or if no declared workload satisfies the affinity.
func waitsFor(m *model.Model, w *workload.Workload) []*workload.Workload {
	g := m.Groups[w]
	hard := g.HardAffinity()
	idle := w.Running || w.Spec.NodeName != "" || w.Repeated || w.Copy || w.Count.Known && w.Count.N == 0
	_, most := w.Pods()
	if len(hard) == 0 || most == 0 && w.Count.Known && !w.Kind.PerNode() || g.Unknown.Given() || idle {
		return nil
	}
	first := model.Yes
	for _, t := range hard {
		first = min(first, m.Self(t, w))
	}
	if first != model.No {
		return nil
	}
	return slices.DeleteFunc(m.Others(hard[0], w, true), func(o *workload.Workload) bool {
		return slices.ContainsFunc(hard[1:], func(t *model.Term) bool { return m.Peer(t, w, o) == model.No })
	})
}

// shortest returns the shortest path from w back to w. If there is none, it follows the first
// workload in each list until a workload repeats.
func shortest(w *workload.Workload, meets map[*workload.Workload][]*workload.Workload) (path []*workload.Workload, member bool) {
	from := map[*workload.Workload]*workload.Workload{}
	queue := []*workload.Workload{w}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, next := range meets[at] {
			if next == w {
				for path = []*workload.Workload{w}; at != w; at = from[at] {
					path = append(path, at)
				}
				path = append(path, w)
				slices.Reverse(path)
				return path, true
			}
			if from[next] == nil {
				from[next] = at
				queue = append(queue, next)
			}
		}
	}
	seen := map[*workload.Workload]bool{}
	for at := w; ; at = meets[at][0] {
		path = append(path, at)
		if seen[at] {
			return path, false
		}
		seen[at] = true
	}
}
