package engine

import (
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/render"
)

// operation is an operation that sets a value, in a JSON patch of an overlay.
type operation struct {
	path  []string
	value *yaml.Node
	file  string
	// shift converts a place in the patch to one in the file.
	shift func(line, column int) (int, int, bool)
}

// jsonPatch is a JSON patch of an overlay. Such a patch removes the markers of its whole object, so
// the places of its values are set after the build.
type jsonPatch struct {
	target     types.Selector
	match      *types.SelectorRegex
	operations []operation
}

// jsonPatches returns the JSON patches of the overlay whose places are known.
func (p *plan) jsonPatches() (all []jsonPatch) {
	o, f := p.root.Overlay, p.pointerFile()
	if f == nil {
		return nil
	}
	add, err := p.added()
	l, ok := newLines(f.text)
	if err != nil || !ok {
		return nil
	}
	for i := range min(len(add.Patches), len(o.Patches)) {
		patch := add.Patches[i]
		inner, ok := newLines([]byte(patch.Patch))
		if o.Patches[i] < 1 || patch.Target == nil || !ok {
			continue
		}
		match, err := types.NewSelectorRegex(patch.Target)
		ops := operationsIn(patch.Patch, f.name, inBlock(l, inner, o.Patches[i]))
		if err == nil && len(ops) > 0 {
			all = append(all, jsonPatch{*patch.Target, match, ops})
		}
	}
	return all
}

// applies reports whether a patch was for an object of the result. The object may have been renamed
// since, so all names that it may have had count.
func (p *plan) applies(patch *jsonPatch, res *resource.Resource, names []string) bool {
	spec := &p.rootKustomization().spec
	name := strings.TrimSuffix(strings.TrimPrefix(res.GetName(), spec.NamePrefix), spec.NameSuffix)
	names = append(names, name, res.GetName())
	labelled, err := res.MatchesLabelSelector(patch.target.LabelSelector)
	noted, err2 := res.MatchesAnnotationSelector(patch.target.AnnotationSelector)
	return err == nil && err2 == nil && labelled && noted &&
		patch.match.MatchGvk(res.GetGvk()) && slices.ContainsFunc(names, patch.match.MatchName) &&
		(spec.Namespace != "" || p.root.Overlay.Namespace != "" || patch.match.MatchNamespace(res.CurId().EffectiveNamespace()))
}

// operationsIn returns the operations in a patch that set values, or none if it is another kind of
// patch.
func operationsIn(text, file string, shift func(line, column int) (int, int, bool)) (all []operation) {
	doc, err := parse([]byte(text))
	if err != nil || doc.err != nil || len(doc.docs) != 1 || doc.docs[0] == nil || doc.docs[0].Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range doc.docs[0].Content {
		op, path, value := nodeText(item, "op"), nodeText(item, "path"), field(item, "value")
		if op != "add" && op != "replace" || value == nil || !strings.HasPrefix(path, "/") {
			continue
		}
		steps := strings.Split(path[1:], "/")
		for i := range steps {
			steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
		}
		all = append(all, operation{steps, value, file, shift})
	}
	return all
}

func nodeText(n *yaml.Node, key string) string { return text(field(n, key)) }

// patched adds marks for the values in an object that JSON patches set and that are still there,
// unless a mark since first exists. names are the names that the object may have had.
func (r *results) patched(res *resource.Resource, root *yaml.Node, names []string, first int) {
	taken := map[spot]bool{}
	for _, m := range r.marks[first:] {
		taken[spot{m.Line, m.Column}] = true
	}
	for i := len(r.patches) - 1; i >= 0; i-- { // the last one counts
		if !r.p.applies(&r.patches[i], res, names) {
			continue
		}
		for j := len(r.patches[i].operations) - 1; j >= 0; j-- {
			op := &r.patches[i].operations[j]
			at := root
			for _, step := range op.path {
				at = child(at, step)
			}
			r.set(op, op.value, at, taken, 0)
		}
	}
}

// child returns the node that a step of a JSON pointer leads to: a field, or an item by its number.
// "-" is now the last item.
func child(n *yaml.Node, step string) *yaml.Node {
	if n = target(n); n == nil || n.Kind != yaml.SequenceNode {
		return field(n, step)
	}
	i, err := strconv.Atoi(step)
	if step == "-" {
		i, err = len(n.Content)-1, nil
	}
	if err != nil || i < 0 || i >= len(n.Content) {
		return nil
	}
	return n.Content[i]
}

// set walks the value of an operation together with the value that it set.
func (r *results) set(op *operation, from, to *yaml.Node, taken map[spot]bool, depth int) {
	if from, to = target(from), target(to); from == nil || to == nil || from.Kind != to.Kind || depth > maxNesting {
		return
	}
	switch from.Kind {
	case yaml.MappingNode:
		values := fieldsOf(to)
		for i := 0; i+1 < len(from.Content); i += 2 {
			r.set(op, from.Content[i+1], values[from.Content[i].Value], taken, depth+1)
		}
	case yaml.SequenceNode:
		for i := range min(len(from.Content), len(to.Content)) { // more may have been added later
			r.set(op, from.Content[i], to.Content[i], taken, depth+1)
		}
	case yaml.ScalarNode:
		value, ok := scalarOf(from)
		here := spot{r.line + to.Line, to.Column}
		line, column, known := op.shift(from.Line, from.Column)
		if ok && known && value.same(to) && !taken[here] {
			taken[here] = true
			r.marks = append(r.marks, render.Mark{Line: here.line, Column: here.column, File: r.m.fileNamed(op.file), At: line, AtColumn: column})
		}
	}
}
