package workload

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/source"
)

// operated adds the workloads that an operator makes of a custom resource, and reports whether it is
// known which. What the operator may add is open, so only an answer that more restrictions and larger
// requests do not change is given about the pods (R-W37). The object's fragments begin at an index.
func (l *loader) operated(o *source.Object, fragments int) bool {
	if _, ours := builtin[o.Group()]; ours {
		return false
	}
	if l.operators == nil {
		l.operators = kinds.Builtin().With(l.Kinds)
	}
	row := l.operators[[2]string{o.Group(), o.Kind}]
	if row == nil || o.Hook == source.HookNever || slices.ContainsFunc(l.set.Fragments[fragments:], func(f *Workload) bool { return len(f.Problems)+len(f.Unknown) > 0 }) {
		return false
	}
	if len(row.Pods) == 0 {
		l.set.Others++
		return true
	}
	all := lazy.Cached(l.made, o, func() []*Workload { return l.operatorPods(o, row) })
	for _, w := range all {
		one := *w // each set adds data from other objects to its own copy
		l.set.Workloads = append(l.set.Workloads, &one)
	}
	own := slices.DeleteFunc(l.set.Fragments[fragments:], func(f *Workload) bool {
		return slices.ContainsFunc(all, func(o *Workload) bool {
			for _, field := range PlacementFields() {
				here, there := f.SpecNode.Get(field), o.SpecNode.Get(field)
				if !here.IsNull() && (there == nil || here.Line != there.Line || here.Column != there.Column) {
					return false
				}
			}
			return true
		})
	})
	l.set.Fragments = l.set.Fragments[:fragments+len(own)]
	return len(all) > 0
}

// Knows reports whether a kind is never described by a row of operators.
func Knows(group, kind string) bool {
	_, ours := builtin[group]
	return ours || placeless[kind] || NewTable()[[2]string{group, kind}] != nil
}

// operatorPods returns the workloads of a custom resource, or none if part of one cannot be read.
func (l *loader) operatorPods(o *source.Object, row *kinds.Row) []*Workload {
	var all []*Workload
	for _, m := range row.Made(o) {
		w := &Workload{Object: o, Kind: &Kind{Group: row.Group, Kind: row.Kind, Template: template}, TemplateNode: m.Template, SpecNode: m.Template.Get("spec"), Kubernetes: l.Kubernetes}
		if m.Name != "" {
			part := *o
			part.Kind += "/" + m.Name
			w.Object, w.Kind.Kind = &part, part.Kind
		}
		w.Count = Count{N: m.N, Known: m.Known, Key: m.Key, Value: m.Value, Why: "as " + row.Operator() + " makes it"}
		w.Admission, w.Operator = row.Operator(), row.Operator()
		spec := (&place{base: w.Kind.Template, value: w.TemplateNode}).field("spec")
		w.dropFields(spec)
		l.labels(w)
		c := checker{w: w, unchecked: StageFragment, created: StageFragment, fromTemplate: StageFragment}
		c.labels(StageFragment, spec.field("nodeSelector"), "nodeSelector")
		c.affinity(spec)
		c.spread(spec)
		c.tolerations(spec)
		for _, found := range l.decoder.Decode(w.SpecNode, &w.Spec) {
			switch {
			case found.Unknown && m.Mixed && !strings.ContainsAny(found.Path, ".["): // a field of the operator
			case !found.Placeholder:
				return nil
			default:
				w.Open = append(w.Open, found.Path)
			}
		}
		w.openFields()
		if len(w.Problems) > 0 || w.comparesLabels() {
			return nil
		}
		if m.OpenTolerations {
			w.Spec.Tolerations = append(slices.Clip(w.Spec.Tolerations), corev1.Toleration{Operator: corev1.TolerationOpExists})
		}
		l.lists.share(&w.Spec)
		all = append(all, w)
	}
	return all
}

// comparesLabels reports whether a rule compares labels of the pods by their keys alone.
func (w *Workload) comparesLabels() bool {
	affinity := cmp.Or(w.Spec.Affinity, &corev1.Affinity{})
	terms := slices.Concat(cmp.Or(affinity.PodAffinity, &corev1.PodAffinity{}).RequiredDuringSchedulingIgnoredDuringExecution, cmp.Or(affinity.PodAntiAffinity, &corev1.PodAntiAffinity{}).RequiredDuringSchedulingIgnoredDuringExecution)
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 }) ||
		slices.ContainsFunc(w.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool { return len(c.MatchLabelKeys) > 0 })
}
