package workload

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
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
	var quotas bySpace[*source.Object]
	classes, priorities := map[string]*source.Object{}, map[string]*source.Object{}
	anyClass := "" // set if the name of a RuntimeClass is a placeholder
	anyPriority := false
	for _, o := range l.admitting {
		switch o.Kind {
		case "LimitRange":
			r := &limitRange{object: o, name: nameOf(o)}
			r.open = len(l.decoder.Decode(o.Root.Get("spec"), &r.spec)) > 0 || r.invalid()
			limits.add(o.Namespace, r)
		case "ResourceQuota":
			quotas.add(o.Namespace, o)
		case "PriorityClass":
			priorities[o.Name] = o
			anyPriority = anyPriority || source.Placeholder(o.Name)
			if is, _ := o.Root.Get("globalDefault").Bool(); is {
				priorities[""] = o
			}
		default:
			if classes[o.Name] = o; source.Placeholder(o.Name) {
				anyClass = nameOf(o)
			}
		}
	}
	l.podSecurity()
	l.nodeSelectors()
	for _, w := range l.set.Workloads {
		if all := limits.of(w.Object.Namespace); len(all) == 1 && len(limits.open) == 0 && !source.Placeholder(w.Object.Namespace) && !w.Running {
			all[0].setDefaults(w)
		}
	}
	exceeded, tight := map[string]string{}, map[string]string{}
	if len(quotas.all) > 0 {
		var members bySpace[*Workload]
		for _, w := range l.set.Workloads {
			members.add(w.Object.Namespace, w)
		}
		for _, w := range l.set.Workloads {
			ns := w.Object.Namespace
			if _, known := exceeded[ns]; known {
				continue
			}
			exceeded[ns], tight[ns] = "", ""
			for _, o := range quotas.of(ns) {
				if exceeded[ns] == "" && l.mayExceed(o, members.of(ns), 1) {
					exceeded[ns] = nameOf(o)
				}
				if tight[ns] == "" && l.mayExceed(o, members.of(ns), 2) {
					tight[ns] = nameOf(o)
				}
			}
		}
	}
	for _, w := range l.set.Workloads {
		if w.Priority = priorityOf(w, priorities); anyPriority && w.Priority.Declared == diag.Never {
			w.Priority.Declared = diag.Unknown
		}
		if w.Running {
			w.PlainClass = true
			continue // the pod has already been admitted
		}
		if w.Priority.Declared == diag.Never {
			w.misspelt(priorities)
		}
		ns := w.Object.Namespace
		all := limits.of(ns)
		for _, r := range all {
			if w.Admission == "" && r.concerns(w, len(all) == 1) {
				w.Admission = r.name
			}
			w.Defaulted = w.Defaulted || r.open || slices.ContainsFunc(r.spec.Limits, func(item corev1.LimitRangeItem) bool {
				return item.Type == corev1.LimitTypeContainer && len(item.Default)+len(item.DefaultRequest)+len(item.Max)+len(item.Min) > 0
			})
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
		if w.Admission == "" {
			w.Admission = exceeded[ns]
		}
		w.TightQuota = tight[ns]
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
		w.Class = class
	}
	w.Spec.Overhead = overhead.PodFixed
	w.Spec.Tolerations = append(slices.Clip(w.Spec.Tolerations), scheduling.Tolerations...)
	if len(selector) > 0 {
		maps.Copy(selector, w.Spec.NodeSelector)
		w.Spec.NodeSelector = selector
	}
	return true
}
