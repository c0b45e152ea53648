package chart

import (
	"reflect"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// called notes what a function made of texts and values whose origins are known.
func (t *trace) called(name string, args []reflect.Value, result reflect.Value) {
	text, ok := stringOf(result)
	if !ok || len(text) < 2 || t.tracedOf(text) != nil {
		return
	}
	if name == "toYaml" || name == "toYamlPretty" {
		t.e.budget.charge(len(text) / 2) // YAML is slow, and is read again
		t.printed(text, args[0])
		return
	}
	var from []*traced
	for _, arg := range args {
		from = t.textsIn(from, arg, 0)
	}
	if len(from) > 0 {
		t.derive(text, from)
	}
}

// textsIn adds the texts of an argument, or of the list that it is.
func (t *trace) textsIn(all []*traced, arg reflect.Value, depth int) []*traced {
	if text, ok := stringOf(arg); ok {
		if one := t.tracedOf(text); one != nil {
			all = append(all, one)
		}
		return all
	}
	if arg = concrete(arg); arg.Kind() != reflect.Slice || depth > 1 {
		return all
	}
	for i := range arg.Len() {
		all = t.textsIn(all, arg.Index(i), depth+1)
	}
	return all
}

// printed notes where the values are set that toYaml prints, line by line.
func (t *trace) printed(text string, value reflect.Value) {
	if value = concrete(value); !value.IsValid() {
		return
	}
	v := value.Interface()
	if s, ok := v.(string); ok {
		if one := t.tracedOf(s); one != nil {
			t.derive(text, []*traced{one})
		}
		return
	}
	if !isContainer(v) {
		return
	}
	var doc kyaml.Node
	if kyaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) != 1 {
		return
	}
	w := newWalk(t, text)
	w.walk(doc.Content[0], v, nil, 0)
	if w.found {
		t.keep(text, w.lines)
	}
}
