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
	anyClass := "" // set if the name of a RuntimeClass is a placeholder
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
			limits.add(o.Namespace, r)
		case "ResourceQuota":
			q := &quota{object: o, doubts: doubts}
			q.open = len(l.decoder.Decode(o.Root.Get("spec"), &q.spec)) > 0 || source.Placeholder(o.Namespace) || q.invalid()
			if other := bins[nameOf(o)]; other != nil {
				other.open = other.open || !equality.Semantic.DeepEqual(other.spec, q.spec)
				continue
			}
			bins[nameOf(o)] = q
			quotas.add(o.Namespace, q)
		case "PriorityClass":
		default:
			if classes[o.Name] = o; source.Placeholder(o.Name) {
				anyClass = nameOf(o)
			}
		}
	}
	if len(quotas.all)+len(limits.all) > 0 {
		l.set.governing = governing{quotas.all, limits.all}
	}
	l.podSecurity()
	l.nodeSelectors()
	for _, w := range l.set.Workloads {
		if all := limits.of(w.Object.Namespace); len(all) > 0 && !w.Running { // a running pod has already been admitted
			if open := slices.IndexFunc(all, func(r *limitRange) bool { return !l.joined(r.object, w) }); open >= 0 {
				w.Admission = nameOf(all[open].object)
			} else if r := w.limit(all); r != nil {
				w.Admission = nameOf(r.object)
			}
		}
	}
	for _, w := range l.set.Workloads {
		l.prioritize(w, priorities, anyPriority)
		if w.Running {
			w.PlainClass = true
			continue // the pod has already been admitted
		}
		for _, r := range limits.of(w.Object.Namespace) {
			w.Defaulted = w.Defaulted || r.open || slices.ContainsFunc(r.items, func(item corev1.LimitRangeItem) bool { return len(item.DefaultRequest) > 0 })
		}
		switch o := classes[w.Spec.RuntimeClassName]; {
		case w.Spec.RuntimeClassName == "":
			if len(w.Spec.Overhead) > 0 && w.Admission == "" { // it refuses overhead without a class
				w.Admission = "the plugin RuntimeClass"
			}
		case o != nil:
			if w.PlainClass = l.merged(w, o); !w.PlainClass && w.Admission == "" {
				w.Admission = nameOf(o)
			}
		case anyClass != "" && w.Admission == "":
			w.Admission = anyClass
		}
	}
	if len(quotas.all) == 0 {
		return
	}
	var members bySpace[*Workload]
	for _, w := range l.set.Workloads {
		members.add(w.Object.Namespace, w)
	}
	for _, q := range quotas.all {
		q.cover(l, members.of(q.object.Namespace), priorities)
	}
	for _, q := range quotas.all {
		q.apply(l)
	}
	for space, list := range quotas.in {
		contend(slices.Concat(list, quotas.open), slices.Concat(members.in[space], members.open), doubts)
	}
	for w, name := range doubts {
		w.Admission = cmp.Or(w.Admission, name)
	}
	for _, q := range quotas.all {
		q.rooms()
	}
}

// bySpace groups items by namespace. An item whose namespace is a placeholder may belong to any
// namespace.
type bySpace[T any] struct {
	in   map[string][]T
	open []T
	all  []T
}

func (b *bySpace[T]) add(ns string, x T) {
	b.all = append(b.all, x)
	if source.Placeholder(ns) {
		b.open = append(b.open, x)
		return
	}
	if b.in == nil {
		b.in = map[string][]T{}
	}
	ns = Space(ns)
	b.in[ns] = append(b.in[ns], x)
}

// of returns the items that may belong to a namespace.
func (b *bySpace[T]) of(ns string) []T {
	if source.Placeholder(ns) {
		return b.all
	}
	return slices.Concat(b.in[Space(ns)], b.open)
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
