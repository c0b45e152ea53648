package placement

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/workload"
)

// labelIndex finds the workloads that a selector may select without asking
// every one of them.
type labelIndex struct {
	all   []*workload.Workload
	pairs map[[2]string][]*workload.Workload
	// open holds, by key, workloads whose value of a label is not known.
	open map[string][]*workload.Workload
}

func newLabelIndex(all []*workload.Workload) *labelIndex {
	x := &labelIndex{pairs: map[[2]string][]*workload.Workload{}, open: map[string][]*workload.Workload{}}
	for _, w := range all {
		if w.Copy {
			continue
		}
		x.all = append(x.all, w)
		for k, v := range w.Labels {
			if Placeholder(v) {
				x.open[k] = append(x.open[k], w)
			} else {
				x.pairs[[2]string{k, v}] = append(x.pairs[[2]string{k, v}], w)
			}
		}
		for _, keys := range [][]string{w.PerPod(), w.Kind.Shared} {
			for _, k := range keys {
				if _, set := w.Labels[k]; !set {
					x.open[k] = append(x.open[k], w)
				}
			}
		}
	}
	return x
}

// candidates are all workloads that a selector may select, and maybe others.
func (x *labelIndex) candidates(s *selector) [][]*workload.Workload {
	if s.form == FormNull {
		return nil
	}
	for i := range s.reqs {
		r := &s.reqs[i]
		if r.op != metav1.LabelSelectorOpIn || r.own || boundLabel(r.key) {
			continue
		}
		lists := [][]*workload.Workload{x.open[r.key]}
		for _, v := range r.values {
			if Placeholder(v) {
				return [][]*workload.Workload{x.all}
			}
			lists = append(lists, x.pairs[[2]string{r.key, v}])
		}
		return lists
	}
	return [][]*workload.Workload{x.all}
}

// Selected counts the declared workloads whose pods the term may select; it
// stops at limit. A workload of a single pod does not select itself.
func (m *Model) Selected(t *Term, owner *workload.Workload, limit int) int {
	if t.Use == Spread && t.sel.form != FormSet {
		return 0 // null matches nothing and {} counts nothing (R-T5)
	}
	if m.Peer(t, owner, owner) != No && limit == 1 {
		return 1
	}
	n := 0
	for _, list := range m.index.candidates(&t.sel) {
		for _, w := range list {
			if m.Peer(t, owner, w) != No {
				if n++; n == limit {
					return n
				}
			}
		}
	}
	return n
}

// Others are the declared workloads beside the owner whose pods the term
// selects, or may select if maybe is set.
func (m *Model) Others(t *Term, owner *workload.Workload, maybe bool) []*workload.Workload {
	var others []*workload.Workload
	for _, list := range m.index.candidates(&t.sel) {
		for _, w := range list {
			if same(w, owner) {
				continue
			}
			if a := m.Peer(t, owner, w); a == Yes || maybe && a == Maybe {
				others = append(others, w)
			}
		}
	}
	return others
}

// same reports whether two workloads are one object, declared once or in
// several places: its pods are never counted twice.
func same(a, b *workload.Workload) bool {
	return a == b || a.Object.Name == b.Object.Name && a.Object.Kind == b.Object.Kind &&
		a.Object.Namespace == b.Object.Namespace && a.Object.Group() == b.Object.Group()
}

// NearestLabel is a label that some declared pod carries and that the selector
// probably meant, as in app=web for app=webb; "" if there is none.
func (m *Model) NearestLabel(t *Term) string {
	for _, p := range t.Pairs() {
		m.run.Spend(len(m.index.pairs))
		var values []string
		for pair := range m.index.pairs {
			if pair[0] == p[0] {
				values = append(values, pair[1])
			}
		}
		slices.Sort(values)
		if slices.Contains(values, p[1]) {
			continue
		}
		if near := diag.Nearest(p[1], values); near != "" {
			return p[0] + "=" + near
		}
	}
	return ""
}
