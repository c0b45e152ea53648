package model

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// labelIndex finds the workloads that a term may select without checking every workload. It
// builds its tables on first use, because many models are short-lived.
type labelIndex struct {
	members []*workload.Workload
	// anywhere indexes the workloads by labels. within indexes them by namespace and labels.
	anywhere, within *labelTable
}

// labelTable indexes workloads by labels and optionally by namespace. Workloads with an unknown
// namespace are listed under "".
type labelTable struct {
	all   map[string][]*workload.Workload
	pairs map[[3]string][]*workload.Workload
	// open maps a namespace and a label key to the workloads whose value for that key is unknown.
	open map[[2]string][]*workload.Workload
	// values maps each label key to its known values in sorted order. It is built on first use.
	values map[string][]string
}

// NewLabelIndex indexes workloads. It omits workloads that are copies of others.
func NewLabelIndex(all []*workload.Workload) *labelIndex {
	return &labelIndex{members: slices.DeleteFunc(slices.Clone(all), func(w *workload.Workload) bool { return w.Copy })}
}

func (x *labelIndex) apart() *labelTable {
	if x.within == nil {
		x.within = newLabelTable(x.members, (*workload.Workload).Namespace)
	}
	return x.within
}

func (x *labelIndex) whole() *labelTable {
	if x.anywhere == nil {
		x.anywhere = newLabelTable(x.members, func(*workload.Workload) string { return "" })
	}
	return x.anywhere
}

func newLabelTable(all []*workload.Workload, place func(*workload.Workload) string) *labelTable {
	x := &labelTable{all: map[string][]*workload.Workload{}, pairs: map[[3]string][]*workload.Workload{}, open: map[[2]string][]*workload.Workload{}}
	for _, w := range all {
		ns := place(w)
		if source.Placeholder(ns) {
			ns = "" // it may be any namespace
		}
		x.all[ns] = append(x.all[ns], w)
		for k, v := range w.Labels {
			if source.Placeholder(v) {
				x.open[[2]string{ns, k}] = append(x.open[[2]string{ns, k}], w)
			} else {
				x.pairs[[3]string{ns, k, v}] = append(x.pairs[[3]string{ns, k, v}], w)
			}
		}
		for _, keys := range [][]string{w.PerPod(), w.Kind.Shared} {
			for _, k := range keys {
				if _, set := w.Labels[k]; !set {
					x.open[[2]string{ns, k}] = append(x.open[[2]string{ns, k}], w)
				}
			}
		}
	}
	return x
}

// Candidates returns a list that contains every workload that a term may select. The list may
// contain other workloads too.
func (x *labelIndex) Candidates(t *Term, owner *workload.Workload) [][]*workload.Workload {
	names, some := t.reach(owner)
	if !some {
		return x.whole().selected("", &t.Sel)
	}
	var lists [][]*workload.Workload
	for _, name := range names {
		if table := x.apart(); table.all[name] != nil {
			lists = append(lists, table.selected(name, &t.Sel)...)
		}
	}
	return lists
}

// opens reports whether a term may select a workload with an unknown value for the given label.
func (x *labelIndex) opens(t *Term, owner *workload.Workload, key string) bool {
	names, some := t.reach(owner)
	if !some {
		return len(x.whole().open[[2]string{"", key}]) > 0
	}
	return slices.ContainsFunc(names, func(name string) bool { return len(x.apart().open[[2]string{name, key}]) > 0 })
}

// reach returns the namespaces in which a term may select pods. The name "" stands for unknown
// namespaces. If the term may select pods in any namespace, reach returns false.
func (t *Term) reach(owner *workload.Workload) (names []string, some bool) {
	switch {
	case t.NamespaceSelector != nil:
		return nil, false
	case len(t.Namespaces) == 0:
		names = []string{owner.Namespace(), ""}
	default:
		names = append(slices.Compact(slices.Sorted(slices.Values(t.Namespaces))), "")
	}
	if slices.Index(names, "") < len(names)-1 || slices.ContainsFunc(names, source.Placeholder) {
		return nil, false
	}
	return names, true
}

func (x *labelTable) selected(ns string, s *selector) [][]*workload.Workload {
	if s.Form == FormNull {
		return nil
	}
	for i := range s.Reqs {
		r := &s.Reqs[i]
		if r.Op != metav1.LabelSelectorOpIn || r.Own || BoundLabel(r.Key) || r.Claim != "" {
			continue
		}
		lists := [][]*workload.Workload{x.open[[2]string{ns, r.Key}]}
		for _, v := range r.Values {
			if source.Placeholder(v) {
				return [][]*workload.Workload{x.all[ns]}
			}
			lists = append(lists, x.pairs[[3]string{ns, r.Key, v}])
		}
		return lists
	}
	return [][]*workload.Workload{x.all[ns]}
}

// Selected counts the declared workloads whose pods the term may select, up to limit. It counts the
// owner only if the term of one of its pods may select another of its pods.
func (m *Model) Selected(t *Term, owner *workload.Workload, limit int) int {
	if t.Use == Spread && t.Sel.Form != FormSet {
		return 0 // null matches nothing and {} counts nothing (R-T5)
	}
	if m.Peer(t, owner, owner) != No && limit == 1 {
		return 1
	}
	n := 0
	for _, list := range m.Index.Candidates(t, owner) {
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

// Others returns the declared workloads whose pods the term selects, except the owner. If maybe is
// set, it includes workloads whose pods the term might select.
func (m *Model) Others(t *Term, owner *workload.Workload, maybe bool) []*workload.Workload {
	var others []*workload.Workload
	for _, list := range m.Index.Candidates(t, owner) {
		for _, w := range list {
			if Same(w, owner) {
				continue
			}
			if a := m.Peer(t, owner, w); a == Yes || maybe && a == Maybe {
				others = append(others, w)
			}
		}
	}
	return others
}

// Same reports whether two workloads are the same object. If an object is declared in several
// places, its pods must not be counted twice.
func Same(a, b *workload.Workload) bool {
	return a == b || a.Object.Name == b.Object.Name && a.Object.Kind == b.Object.Kind &&
		a.Object.Namespace == b.Object.Namespace && a.Object.Group() == b.Object.Group()
}

// NearestLabel returns a label of a declared pod that is similar to a label in the selector, such
// as app=web for app=webb. It returns "" if there is no similar label.
func (m *Model) NearestLabel(t *Term) string {
	table := m.Index.whole()
	for _, p := range t.Pairs() {
		m.run.Spend(len(table.pairs))
		if table.values == nil {
			table.values = map[string][]string{}
			for pair := range table.pairs {
				table.values[pair[1]] = append(table.values[pair[1]], pair[2])
			}
			for _, values := range table.values {
				slices.Sort(values)
			}
		}
		values := table.values[p[0]]
		if _, carried := slices.BinarySearch(values, p[1]); carried {
			continue
		}
		if near := diag.Nearest(p[1], values); near != "" {
			return p[0] + "=" + near
		}
	}
	return ""
}

// askedAbout maps each object to the workloads with a hard rule that may select its pods.
type askedAbout map[*source.Object][]*workload.Workload

// AskedAbout returns the workloads with a hard rule that may select pods of w.
func (m *Model) AskedAbout(w *workload.Workload) []*workload.Workload {
	about := *Keep(m, func() *askedAbout {
		about := askedAbout{}
		for _, o := range m.Workloads {
			for t := range m.Groups[o].HardTerms() {
				for _, list := range m.Index.Candidates(t, o) {
					for _, x := range list {
						if m.Peer(t, o, x) != No {
							about[x.Object] = append(about[x.Object], o)
						}
					}
				}
			}
		}
		return &about
	})
	m.Run().Spend(len(about[w.Object]))
	return about[w.Object]
}
