package workload

import (
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/source"
)

// addReferringRollout records a Rollout without a template: it names an object that has one (argo-rollouts:
// utils/unstructured and rollout/templateref). That object may be read later.
func (l *loader) addReferringRollout(o *source.Object, kind *Kind) {
	w := &Workload{Object: o, Kind: kind, Count: kind.Count(o)}
	l.envelope(w)
	c := checker{w: w}
	objectChecker{&c}.object()
	l.referring = append(l.referring, w)
	l.set.Workloads = append(l.set.Workloads, w)
}

// resolveReferences gives every such Rollout the template of the object that it names, if the declarations
// of that object are equal, and returns the workloads that therefore have no pods of their own.
func (l *loader) resolveReferences() (idle []*Workload) {
	if len(l.referring) == 0 {
		return nil
	}
	lost := map[*Workload]bool{}
	lenders := l.lenders()
	resolved := map[declared][]*Workload{}
	for _, w := range l.referring {
		ref := w.Object.Root.At("spec", "workloadRef")
		id := declared{w.Object.Namespace, groupOf(ref.Get("apiVersion").Text()), ref.Get("kind").Text(), ref.Get("name").Text()}
		named, known := resolved[id]
		if !known {
			named = l.named(lenders[id])
			resolved[id] = named
		}
		if len(named) == 0 {
			l.set.Unresolved = append(l.set.Unresolved, w.Object)
			l.recordOperated(w.Object)
			lost[w] = true
			continue
		}
		w.adopt(named[0])
		if dormant(named[0], ref) {
			idle = append(idle, named...)
		} else { // problems there are reported there
			w.Unknown = w.Unknown[:len(w.Unknown)-len(named[0].Unknown)]
		}
	}
	l.set.Workloads = slices.DeleteFunc(l.set.Workloads, func(w *Workload) bool { return lost[w] })
	return idle
}

// declared identifies an object.
type declared struct{ namespace, group, kind, name string }

// lender is a declaration of an object that has a template: a workload that is already read, or a
// PodTemplate.
type lender struct {
	workload *Workload
	object   *source.Object
}

// lenders returns all lenders by object, workloads first.
func (l *loader) lenders() map[declared][]lender {
	all := map[declared][]lender{}
	add := func(o *source.Object, w *Workload) {
		if o.APIVersion != "" {
			id := declared{o.Namespace, o.Group(), o.Kind, o.Name}
			all[id] = append(all[id], lender{w, o})
		}
	}
	for _, w := range l.set.Workloads {
		if kind := w.Object.Kind; kind == "Deployment" || kind == "ReplicaSet" {
			add(w.Object, w)
		}
	}
	for _, o := range l.templates {
		add(o, nil)
	}
	return all
}

// named returns the declarations of the object that a reference leads to; none if they differ.
func (l *loader) named(declarations []lender) (all []*Workload) {
	for _, d := range declarations {
		if !source.Equal(d.object.Root, declarations[0].object.Root) {
			return nil
		}
		w := d.workload
		if w == nil {
			w = l.read(d.object, podTemplate())
		}
		all = append(all, w)
	}
	return all
}

// podTemplate returns the row of a kind that creates no pods by itself, and whose template a
// Rollout may use.
func podTemplate() *Kind {
	return &Kind{Kind: "PodTemplate", Template: []string{"template"}, Count: func(*source.Object) Count { return known(0, "a template") }}
}

// adopt copies the template of another object, with the results of reading it. If that object is
// refused, the Rollout has no template.
func (w *Workload) adopt(d *Workload) {
	w.from = d.Object
	w.TemplateNode, w.SpecNode, w.Spec, w.Open = d.TemplateNode, d.SpecNode, d.Spec, d.Open
	w.Labels = maps.Clone(d.Labels)
	w.Problems = append(w.Problems, d.Problems...)
	w.Unknown = append(w.Unknown, d.Unknown...)
}

// dormant reports whether an object that lends its template has no pods of its own: it is migrated
// with scaleDown, or, as is common practice, only the Rollout is intended to run. Only an explicit
// replica number means the opposite.
func dormant(d *Workload, ref *source.Node) bool {
	switch ref.Get("scaleDown").Text() {
	case "onsuccess", "progressively":
		return true
	}
	return d.Count.Key == nil || d.Count.Known && d.Count.N == 0
}

// removeIdle removes workloads that have no pods of their own from the set.
func (l *loader) removeIdle(idle []*Workload) {
	gone := make(map[*source.Object]bool, len(idle))
	for _, w := range idle {
		if !gone[w.Object] {
			gone[w.Object] = true
			l.set.Others++
		}
	}
	l.set.Workloads = slices.DeleteFunc(l.set.Workloads, func(w *Workload) bool { return gone[w.Object] })
	l.set.NotJudged = slices.DeleteFunc(l.set.NotJudged, func(o *source.Object) bool { return gone[o] })
}
