package engine

import (
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/render"
)

// substituteKey is the label or annotation of objects that keep their variables (fluxcd/pkg:
// kustomize).
const substituteKey = "kustomize.toolkit.fluxcd.io/substitute"

// variables returns the variables that are substituted in the result, or nil.
func (p *plan) variables() *render.Variables {
	if p.root.Overlay == nil || p.root.Overlay.Variables == nil {
		return nil
	}
	v := p.root.Overlay.Variables
	if len(v.Given)+len(v.Unknown) == 0 && !v.Open {
		return nil // without variables, Flux changes nothing
	}
	return v
}

// substituted returns the text of an object, whose node is doc, with variables substituted.
func (r *results) substituted(doc *yaml.Node, text []byte) ([]byte, error) {
	vars := r.p.variables()
	keeps := func(where string) bool {
		return nodeText(field(field(doc, "metadata"), where), substituteKey) == "disabled"
	}
	if vars == nil || doc == nil || keeps("labels") || keeps("annotations") {
		return text, nil
	}
	after, err := expand(string(text), vars, &r.p.work)
	if err != nil {
		is := identityOf(doc)
		return nil, fmt.Errorf("substituting variables in %s %s: %w", shown(is.kind), shown(is.name), err)
	}
	if after == string(text) {
		return text, nil
	}
	parsed, err := parse([]byte(after))
	if err == nil {
		err = parsed.err
	}
	if err == nil && (len(parsed.docs) != 1 || !isMapping(parsed.docs[0])) {
		err = fmt.Errorf("expected one YAML document, found %d", len(parsed.docs))
	}
	if err != nil {
		is := identityOf(doc)
		return nil, fmt.Errorf("%s %s with its variables substituted: %w", shown(is.kind), shown(is.name), err)
	}
	return []byte(after), nil
}

// spot is a place in the text of an object.
type spot struct{ line, column int }

// moveMarks moves the marks from index from on to the places of their values after the substitution
// of variables, and drops those whose values have changed. A scalar that consists of one variable
// gets a mark to the place that sets it.
func (r *results) moveMarks(from int, before, after *yaml.Node) {
	moved := map[spot]spot{}
	var given []render.Mark
	r.sameValues(before, after, 0, func(a, b *yaml.Node) {
		if value, ok := scalarOf(a); ok && value.same(b) {
			moved[spot{r.line + a.Line, a.Column}] = spot{r.line + b.Line, b.Column}
		} else if at, ok := r.variable(a, b); ok {
			given = append(given, at)
		}
	})
	kept := r.marks[:from]
	for _, mark := range r.marks[from:] {
		if to, ok := moved[spot{mark.Line, mark.Column}]; ok {
			mark.Line, mark.Column = to.line, to.column
			kept = append(kept, mark)
		}
	}
	r.marks = append(kept, given...)
}

// sameValues calls f for the scalars at the same path in two trees.
func (r *results) sameValues(a, b *yaml.Node, depth int, f func(a, b *yaml.Node)) {
	if a == nil || b == nil || a.Kind != b.Kind || depth > maxNesting {
		return
	}
	if a.Kind == yaml.ScalarNode {
		f(a, b)
		return
	}
	if len(a.Content) != len(b.Content) {
		return
	}
	for i := range a.Content {
		r.sameValues(a.Content[i], b.Content[i], depth+1, f)
	}
}

// onlyVariable matches a scalar that consists of one variable.
var onlyVariable = lazy.Regexp(`^\$\{([\pL\pN_]+)(?:[:=][^{}]*)?\}$`)

// variable returns the mark of a scalar with the value of a variable.
func (r *results) variable(a, b *yaml.Node) (render.Mark, bool) {
	name := onlyVariable().FindStringSubmatch(a.Value)
	if name == nil {
		return render.Mark{}, false
	}
	v, given := r.p.variables().Given[name[1]]
	if !given || v.Line == 0 || v.Value != b.Value || v.Value == "" {
		return render.Mark{}, false
	}
	return render.Mark{Line: r.line + b.Line, Column: b.Column, File: r.m.fileNamed(v.File), At: v.Line, AtColumn: v.Column, Variable: true}, true
}

// counted marks the replica count that an overlay sets for an object, by its name in the source if
// that is known.
func (r *results) counted(root *yaml.Node, names []string) {
	o, n := r.p.root.Overlay, field(field(root, "spec"), "replicas")
	if o == nil || n == nil || len(names) == 0 {
		return
	}
	v, given := o.Counts[names[0]]
	if given && v.Line > 0 && v.Value == n.Value {
		r.marks = append(r.marks, render.Mark{Line: r.line + n.Line, Column: n.Column, File: r.m.fileNamed(v.File), At: v.Line, AtColumn: v.Column, Variable: true})
	}
}

// fileNamed returns the index of a file, which is the same for each name.
func (m *marker) fileNamed(name string) int {
	if i := slices.Index(m.files, name); i >= 0 {
		return i
	}
	return m.file(name)
}
