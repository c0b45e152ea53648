package workload

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/schedlint/schedlint/lint/source"
)

// admits maps each kind that can change or reject pods at admission to its API group. The labels of
// a Namespace can also cause rejections and are in Set.Namespaces.
var admits = map[string]string{"LimitRange": "", "PriorityClass": "scheduling.k8s.io", "ResourceQuota": "", "RuntimeClass": "node.k8s.io"}

func admitsPods(apiVersion, kind string) bool {
	group, known := admits[kind]
	return known && groupOf(apiVersion) == group && apiVersion != ""
}

// admission sets Admission and the related fields of each workload. It looks for objects in the set
// that may change or reject the pods (R-P9 to R-P11, R-N39). An object with an unclear effect
// counts as well.
func (l *loader) admission() {
	var limits bySpace[*limitRange]
	var quotas bySpace[*quota]
	ranges, bins, doubts := map[string]*limitRange{}, map[string]*quota{}, map[*Workload]string{}
	classes := map[string]*source.Object{}
	var anyClass []*source.Object // RuntimeClasses whose name is a placeholder
	priorities, anyPriority := priorityClasses(l.admitting)
	for _, o := range l.admitting {
		switch o.Kind {
		case "LimitRange":
			r := l.limitRange(o)
			if other := ranges[nameOf(o)]; other != nil { // declared again
				other.open = other.open || !equality.Semantic.DeepEqual(other.items, r.items)
				continue
			}
			ranges[nameOf(o)] = r
			limits.add(o, o.Namespace, r)
		case "ResourceQuota":
			q := &quota{object: o, doubts: doubts}
			q.open = len(l.decoder.Decode(o.Root.Get("spec"), &q.spec)) > 0 || source.Placeholder(o.Namespace) || q.invalid()
			if other := bins[nameOf(o)]; other != nil {
				other.open = other.open || !equality.Semantic.DeepEqual(other.spec, q.spec)
				continue
			}
			bins[nameOf(o)] = q
			quotas.add(o, o.Namespace, q)
		case "PriorityClass":
		default:
			if classes[o.Name] = o; source.Placeholder(o.Name) {
				anyClass = append(anyClass, o)
			}
		}
	}
	for _, q := range quotas.all {
		l.set.governing.quotas = append(l.set.governing.quotas, q.x)
	}
	for _, r := range limits.all {
		l.set.governing.limits = append(l.set.governing.limits, r.x)
	}
	l.podSecurity()
	l.nodeSelectors()
	for _, w := range l.set.Workloads {
		if all := limits.of(l, w.Object, w.Object.Namespace); len(all) > 0 && !w.Running { // a running pod has already been admitted
			if open := slices.IndexFunc(all, func(r *limitRange) bool { return !l.joined(r.object, w) }); open >= 0 {
				w.Admission = nameOf(all[open].object)
			} else if r := w.limit(all); r != nil {
				w.Admission = nameOf(r.object)
			}
		}
	}
	for _, w := range l.set.Workloads {
		l.prioritize(w, priorities, slices.ContainsFunc(anyPriority, func(o *source.Object) bool { return o.Reaches(w.Object) }))
		if w.Running {
			w.PlainClass = true
			continue // the pod has already been admitted
		}
		for _, r := range limits.of(l, w.Object, w.Object.Namespace) {
			w.Defaulted = w.Defaulted || r.open || slices.ContainsFunc(r.items, func(item corev1.LimitRangeItem) bool { return len(item.DefaultRequest) > 0 })
		}
		o := classes[w.Spec.RuntimeClassName]
		if o != nil && !l.acts(o, w.Object) {
			o = nil
		}
		switch {
		case w.Spec.RuntimeClassName == "":
			if len(w.Spec.Overhead) > 0 && w.Admission == "" { // it refuses overhead without a class
				w.Admission = "the plugin RuntimeClass"
			}
		case o != nil:
			if w.PlainClass = l.merged(w, o); !w.PlainClass && w.Admission == "" {
				w.Admission = nameOf(o)
			}
		case w.Admission == "":
			if i := slices.IndexFunc(anyClass, func(o *source.Object) bool { return o.Reaches(w.Object) }); i >= 0 {
				w.Admission = nameOf(anyClass[i])
			}
		}
	}
	if len(quotas.all) == 0 {
		return
	}
	var members bySpace[*Workload]
	for _, w := range l.set.Workloads {
		members.add(w.Object, w.Object.Namespace, w)
	}
	for _, q := range quotas.all {
		within := slices.DeleteFunc(members.of(l, q.of, q.ns), func(w *Workload) bool { return !l.acts(q.of, w.Object) })
		q.x.cover(l, within, priorities)
	}
	for _, q := range quotas.all {
		q.x.apply(l)
	}
	for space, here := range quotas.in {
		var list []*quota
		var within []*Workload
		for _, m := range slices.Concat(members.in[space], members.open) {
			if slices.ContainsFunc(here, func(q spaced[*quota]) bool {
				return l.acts(q.of, m.of) && (Space(m.ns) == Space(q.ns) || m.of.Reaches(q.of))
			}) {
				within = append(within, m.x)
			}
		}
		for _, q := range slices.Concat(here, quotas.open) {
			if slices.ContainsFunc(within, func(w *Workload) bool {
				return l.acts(q.of, w.Object) && (Space(q.ns) == Space(w.Object.Namespace) || q.of.Reaches(w.Object))
			}) {
				list = append(list, q.x)
			}
		}
		contend(list, within, doubts)
	}
	for w, name := range doubts {
		w.Admission = cmp.Or(w.Admission, name)
	}
	for _, q := range quotas.all {
		q.x.rooms()
	}
}

// bySpace groups items by namespace. An item whose namespace is a placeholder may belong to the namespace
// of each object that it reaches.
type bySpace[T any] struct {
	in   map[string][]spaced[T]
	open []spaced[T]
	all  []spaced[T]
}

// spaced is an item with the object that it is about, and its namespace.
type spaced[T any] struct {
	of *source.Object
	ns string
	x  T
}

func (b *bySpace[T]) add(of *source.Object, ns string, x T) {
	one := spaced[T]{of, ns, x}
	b.all = append(b.all, one)
	if source.Placeholder(ns) {
		b.open = append(b.open, one)
		return
	}
	if b.in == nil {
		b.in = map[string][]spaced[T]{}
	}
	ns = Space(ns)
	b.in[ns] = append(b.in[ns], one)
}

// of returns the items that may belong to the namespace of an object, and that act on it.
func (b *bySpace[T]) of(l *loader, o *source.Object, ns string) (all []T) {
	add := func(list []spaced[T], sure bool) {
		for _, i := range list {
			if (sure || i.ns == ns || i.of.Reaches(o)) && l.acts(i.of, o) {
				all = append(all, i.x)
			}
		}
	}
	if source.Placeholder(ns) {
		add(b.all, false)
		return all
	}
	add(b.in[Space(ns)], true)
	add(b.open, false)
	return all
}

// OpenClass reports whether the pods' RuntimeClass may add tolerations, a node selector or overhead
// (R-N39).
func (w *Workload) OpenClass() bool { return w.Spec.RuntimeClassName != "" && !w.PlainClass }

func nameOf(o *source.Object) string {
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// merged adds what a RuntimeClass adds to pods (R-N39). It returns false if that is not known, or if
// the pods may be rejected. The DaemonSet controller chooses nodes before admission.
func (l *loader) merged(w *Workload, class *source.Object) bool {
	var overhead struct {
		PodFixed corev1.ResourceList `json:"podFixed"`
	}
	var scheduling struct {
		NodeSelector map[string]string   `json:"nodeSelector"`
		Tolerations  []corev1.Toleration `json:"tolerations"`
	}
	found := append(l.decoder.Decode(class.Root.Get("overhead"), &overhead), l.decoder.Decode(class.Root.Get("scheduling"), &scheduling)...)
	selector := maps.Clone(scheduling.NodeSelector)
	for key, value := range w.Spec.NodeSelector {
		if other, both := selector[key]; both && other != value {
			return false
		}
	}
	placed := len(scheduling.NodeSelector)+len(scheduling.Tolerations) > 0
	if len(found) > 0 || len(w.Spec.Overhead) > 0 || placed && (w.Kind.PerNode() || len(w.Open) > 0) {
		return false
	}
	if placed {
		w.Adds = append(w.Adds, class)
	}
	w.Spec.Overhead = overhead.PodFixed
	w.Spec.Tolerations = append(slices.Clip(w.Spec.Tolerations), scheduling.Tolerations...)
	if len(selector) > 0 {
		maps.Copy(selector, w.Spec.NodeSelector)
		w.Spec.NodeSelector = selector
	}
	return true
}
