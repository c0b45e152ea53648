package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Fields lists the fields of a pod spec that Pods.Fields may have, in order.
func Fields() []string {
	return []string{"affinity", "affinity.nodeAffinity", "affinity.podAffinity", "affinity.podAntiAffinity", "containers", "hostNetwork", "nodeSelector",
		"priorityClassName", "resources", "runtimeClassName", "schedulerName", "tolerations", "topologySpreadConstraints"}
}

// Place is the way from a row to a value in it: names of fields, and indices of lists.
type Place []any

func (p Place) below(steps ...any) Place { return append(slices.Clip(p), steps...) }

// Mistakes calls found with each mistake in a row that its type does not rule out.
func (r *Row) Mistakes(found func(at Place, why string)) {
	if r.Kind == "" || strings.Contains(r.Kind, "/") {
		found(Place{"kind"}, "expected the kind of a custom resource")
	}
	if !strings.Contains(r.Group, ".") || strings.Contains(r.Group, "/") {
		found(Place{"group"}, "expected an API group such as stable.example.com")
	}
	top := way{found, false}
	top.paths(Place{"unless"}, r.Unless)
	names := map[string]bool{}
	for i := range r.Pods {
		p := &r.Pods[i]
		at := Place{"pods", i}
		switch {
		case p.Each != "" && !strings.Contains(p.Name, "{."):
			found(at.below("name"), "expected a path in braces that is different for each item, such as {.name}")
		case len(p.When) == 0 && (names[p.Name] || p.Name == "" && len(r.Pods) > 1):
			found(at.below("name"), fmt.Sprintf("expected a name that no other pods have, found %q", p.Name))
		}
		names[p.Name] = names[p.Name] || len(p.When) == 0
		top.path(at.below("each"), p.Each)
		way{found, p.Each != ""}.pods(at, p)
	}
}

// way checks paths. item is set if they may begin at an item of a list.
type way struct {
	found func(at Place, why string)
	item  bool
}

func (w way) pods(at Place, p *Pods) {
	w.text(at.below("name"), p.Name)
	w.paths(at.below("when"), p.When)
	w.number(at.below("replicas"), p.Replicas)
	w.number(at.below("shards"), p.Shards)
	w.path(at.below("template"), p.Template)
	w.path(at.below("spec"), p.Spec)
	if given := []bool{p.Template != "", p.Spec != "", len(p.Fields) > 0}; len(slices.DeleteFunc(given, func(is bool) bool { return !is })) != 1 {
		w.found(at, "expected one of template, spec and fields")
	}
	for _, field := range sorting.Keys(p.Fields) {
		if !slices.Contains(Fields(), field) {
			w.found(at.below("fields", field), "expected one of "+strings.Join(Fields(), ", ")+diag.Question(diag.Nearest(field, Fields())))
		}
		w.required(at.below("fields", field), p.Fields[field])
	}
	for _, label := range sorting.Keys(p.Labels.Add) {
		w.text(at.below("labels", "add", label), p.Labels.Add[label])
	}
	for i, path := range p.Labels.From {
		w.required(at.below("labels", "from", i), path)
	}
	for i := range p.Terms {
		t, at := &p.Terms[i], at.below("terms", i)
		w.paths(at.below("when"), t.When)
		w.path(at.below("topology-key"), t.Key)
		if t.Key+t.Default == "" {
			w.found(at, "expected a topology-key or its default")
		}
		for _, label := range sorting.Keys(t.Match) {
			w.text(at.below("match-labels", label), t.Match[label])
		}
	}
	for i, l := range p.NodeLabels {
		w.paths(at.below("node-labels", i, "when"), l.When)
		w.required(at.below("node-labels", i, "key"), l.Key)
	}
}

func (w way) required(at Place, path string) {
	if w.path(at, path); path == "" {
		w.found(at, "expected a path such as spec.affinity, found nothing")
	}
}

func (w way) path(at Place, path string) {
	below, item := strings.CutPrefix(path, ".")
	steps, last, bracket := strings.Cut(below, "[")
	key, closed := strings.CutSuffix(last, "]")
	switch {
	case path == "":
	case item && !w.item:
		w.found(at, fmt.Sprintf("expected a path from the root of the object, found %q: a path begins with a dot only for the pods of each item of a list", path))
	case strings.Contains(path, "*"):
		w.found(at, fmt.Sprintf("expected a path without *, found %q: name the list with each", path))
	case slices.Contains(strings.Split(steps, "."), "") || bracket && (!closed || key == "") || strings.ContainsAny(key+steps, "[]{}"):
		w.found(at, fmt.Sprintf("expected fields with dots between them, such as spec.affinity or metadata.labels[example.com/name], found %q", path))
	}
}

func (w way) paths(at Place, of map[string][]string) {
	for _, path := range sorting.Keys(of) {
		if w.required(at.below(path), path); len(of[path]) == 0 {
			w.found(at.below(path), `expected a list of values, in which "*" is any value and "" an absent field`)
		}
	}
}

func (w way) text(at Place, text string) {
	for {
		_, rest, found := strings.Cut(text, "{")
		path, after, closed := strings.Cut(rest, "}")
		switch {
		case !found:
			return
		case !closed:
			w.found(at, fmt.Sprintf("expected a closing brace, found %q", text))
			return
		}
		w.required(at, path)
		text = after
	}
}

func (w way) number(at Place, n Number) {
	w.path(at.below("path"), n.Path)
	w.path(at.below("least"), n.Least)
	w.path(at.below("most"), n.Most)
	if n.Default != nil && (*n.Default < 0 || *n.Default > mostPods) {
		w.found(at.below("default"), fmt.Sprintf("expected a number of pods, found %d", *n.Default))
	}
}
