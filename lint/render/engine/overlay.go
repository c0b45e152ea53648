package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/render"
)

// placeholder is a value for a kustomization without any content. Kustomize rejects an empty
// kustomization.
const placeholder = "_placeholder"

// generated returns a kustomization for a directory that has none. It includes every listed
// resource that contains objects.
func (p *plan) generated(dir string) *kustomization {
	spec := types.Kustomization{}
	for _, name := range p.root.Overlay.Resources {
		holds := true // the file contains objects, or has an error that kustomize must report
		if f := p.tree.read(path.Join(dir, name)); f.err == nil && !f.dir {
			if doc, err := p.parse(f); err == nil && doc.err == nil {
				holds = slices.ContainsFunc(doc.docs, func(root *yaml.Node) bool { return text(field(root, "kind")) != "" })
			}
		}
		if holds {
			spec.Resources = append(spec.Resources, name)
		}
	}
	if len(spec.Resources) == 0 {
		spec.Namespace = placeholder
	}
	k := &kustomization{dir: dir, name: path.Join(dir, "kustomization.yaml")}
	k.text, _ = json.Marshal(&spec) // cannot fail, since spec consists of strings
	p.tree.files[k.name] = &file{name: k.name, text: k.text}
	return k
}

// overlay merges the overlay of the root into its kustomization, and adds entries for the
// components of the overlay.
func (p *plan) overlay(k *kustomization) *render.Problem {
	add, err := p.added()
	if err != nil {
		return p.pointedAt(err)
	}
	for _, name := range add.Components {
		k.entries = append(k.entries, &entry{k: k, field: "components", use: asComponent, value: name, name: name, pointer: p.root.Overlay})
	}
	merge(&k.spec, add)
	return nil
}

// added returns the fields that the overlay adds.
func (p *plan) added() (*types.Kustomization, error) {
	add := &types.Kustomization{}
	if fields := p.root.Overlay.Fields; len(fields) > 0 {
		if err := json.Unmarshal(fields, add); err != nil {
			return nil, fmt.Errorf("the fields for kustomize cannot be read: %w", err)
		}
	}
	return add, nil
}

// merge adds the fields of an overlay to a kustomization as the controllers do (fluxcd/pkg:
// kustomize; argo-cd: kustomize edit).
func merge(k, add *types.Kustomization) {
	for _, f := range []struct{ to, from *string }{{&k.Namespace, &add.Namespace}, {&k.NamePrefix, &add.NamePrefix}, {&k.NameSuffix, &add.NameSuffix}} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	k.Patches = append(k.Patches, add.Patches...)
	k.Components = append(k.Components, add.Components...)
	k.Labels = append(k.Labels, add.Labels...)
	for _, image := range add.Images {
		k.Images = replaced(k.Images, image, func(i types.Image) string { return i.Name })
	}
	for _, r := range add.Replicas {
		k.Replicas = replaced(k.Replicas, r, func(r types.Replica) string { return r.Name })
	}
	if len(add.CommonAnnotations) > 0 {
		all := maps.Clone(add.CommonAnnotations)
		for key, value := range k.CommonAnnotations {
			if _, given := all[key]; !given {
				all[key] = value
			}
		}
		k.CommonAnnotations = all
	}
}

// replaced returns the list without the items that have the new item's name, followed by the new
// item.
func replaced[T any](list []T, item T, name func(T) string) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(t T) bool { return name(t) == name(item) })
	return append(list, item)
}

// rewritten returns the text of a kustomization with the output of its charts added. For the root's
// kustomization, it also adds the overlay. base is the text before these changes. If m is not nil,
// inline patches get markers.
func (p *plan) rewritten(m *marker, k *kustomization, base []byte) ([]byte, *render.Problem) {
	fail := func(err error) *render.Problem {
		if p.root.Overlay != nil {
			return p.pointedAt(err)
		}
		return k.problem(nil, err)
	}
	var spec types.Kustomization
	if err := spec.Unmarshal(base); err != nil {
		return nil, fail(err)
	}
	if m != nil {
		m.ownPatches(k, &spec)
	}
	if p.root.Overlay != nil && k == p.rootKustomization() {
		add, err := p.added()
		if err != nil {
			return nil, fail(err)
		}
		if m != nil {
			p.addedPatches(m, add.Patches)
		}
		merge(&spec, add)
	}
	if len(k.charts) > 0 {
		p.component(k, &spec)
	}
	text, err := json.Marshal(&spec)
	if err != nil {
		return nil, fail(err)
	}
	return text, nil
}

// ownPatches adds markers to the inline patches in a kustomization file. If several literal blocks
// have the text of a patch, the first unused block is marked.
func (m *marker) ownPatches(k *kustomization, spec *types.Kustomization) {
	l, ok := newLines(k.text)
	blocks := k.inlinePatches()
	if !ok || len(blocks) == 0 {
		return
	}
	file := m.file(k.name)
	eachInlinePatch(spec, func(patch string) string {
		at := slices.IndexFunc(blocks, func(b *yaml.Node) bool { return b.Value == patch })
		if at < 0 {
			return patch
		}
		line := blocks[at].Line
		blocks = slices.Delete(blocks, at, at+1)
		return m.block(l, file, line, patch)
	})
}

// pointerFile returns the file that declares the overlay. It returns nil if the positions of all
// the overlay's patches are unknown.
func (p *plan) pointerFile() *file {
	o := p.root.Overlay
	if o == nil || !slices.ContainsFunc(o.Patches, func(line int) bool { return line > 0 }) {
		return nil
	}
	if f := p.tree.read(o.File); f.err == nil && !f.dir {
		return f
	}
	return nil
}

// addedPatches adds markers to the patches of the overlay.
func (p *plan) addedPatches(m *marker, patches []types.Patch) {
	o, f := p.root.Overlay, p.pointerFile()
	if f == nil {
		return
	}
	l, ok := newLines(f.text)
	if !ok {
		return
	}
	file := m.file(f.name)
	for i := range min(len(patches), len(o.Patches)) {
		if o.Patches[i] > 0 {
			patches[i].Patch = m.block(l, file, o.Patches[i], patches[i].Patch)
		}
	}
}

// block adds markers to value, the text of the literal block that begins at the given line of a
// file. It returns value unchanged if the file has different text there.
func (m *marker) block(l *lines, file, line int, value string) string {
	inner, ok := newLines([]byte(value))
	doc := inline(value)
	if !ok || doc == nil {
		return value
	}
	first := len(m.places)
	var changes []change
	for _, root := range doc.docs {
		if isMapping(root) {
			changes = append(changes, m.mark(inner, document{root: root, file: file, doc: -1})...)
		}
	}
	shift := inBlock(l, inner, line)
	for i := first; i < len(m.places); i++ {
		at := &m.places[i]
		if at.line, at.column, ok = shift(at.line, at.column); !ok {
			m.places = m.places[:first]
			return value
		}
	}
	return string(apply([]byte(value), changes))
}

// finish changes the result as the controller does after the build.
func (p *plan) finish(result resmap.ResMap) error {
	o := p.root.Overlay
	if o == nil {
		return nil
	}
	for _, res := range result.Resources() {
		if len(o.Labels) > 0 {
			labels := res.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			maps.Copy(labels, o.Labels)
			if err := res.SetLabels(labels); err != nil {
				return err
			}
		}
		if o.Namespace != "" && res.GetNamespace() == "" && !res.GetGvk().IsClusterScoped() {
			if err := res.SetNamespace(o.Namespace); err != nil {
				return err
			}
		}
	}
	return nil
}

// pointed moves a problem to the GitOps pointer in two cases. In the first case, the problem's file
// was not read. In the second case, the file is the root's kustomization, the position in it is
// unknown, and the pointer adds fields to it.
func (p *plan) pointed(problem *render.Problem) *render.Problem {
	o := p.root.Overlay
	if o == nil || problem == nil {
		return problem
	}
	if t := p.tree; t != nil && t.real[problem.File] != nil {
		k := p.rootKustomization()
		if k == nil || k.name != problem.File || problem.Line > 1 || problem.Column > 1 || len(o.Fields) == 0 {
			return problem
		}
	}
	problem.File, problem.Line, problem.Column = o.File, o.Line, 1
	return problem
}

// pointedAt returns a problem at the GitOps pointer.
func (p *plan) pointedAt(err error) *render.Problem {
	problem := (&kustomization{}).problem(nil, err)
	problem.File, problem.Line = p.root.Overlay.File, p.root.Overlay.Line
	return problem
}

// chartOverlaid returns a kustomization that contains only the chart's output and the overlay. A
// kustomization file in the chart directory is ignored.
func (p *plan) chartOverlaid(dir string) (*kustomization, *render.Problem) {
	root := p.root
	root.Overlay, root.Left = nil, p.most
	o := p.root.Overlay
	k := &kustomization{dir: dir, name: path.Join(dir, konfig.DefaultKustomizationFileName()), text: []byte("{}"), inflated: true}
	r := &release{k: k, at: &render.Place{File: o.File, Line: o.Line, Column: 1}}
	r.spec.Name = path.Base(root.Dir)
	if _, problem := p.print(r, root); problem != nil {
		return nil, problem
	}
	r.printed.plain = true
	k.charts = []*release{r}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		p.tree.files[path.Join(dir, name)] = &file{err: errMissing}
	}
	p.tree.files[k.name] = &file{name: k.name, text: k.text}
	if problem := k.read(); problem != nil {
		return nil, problem
	}
	return k, p.overlay(k)
}

// operation is an add or replace operation of a JSON patch in an overlay.
type operation struct {
	path  []string
	value *yaml.Node
	file  string
	// shift converts a position in the patch to one in the file.
	shift func(line, column int) (int, int, bool)
}

// jsonPatch is a JSON patch of an overlay. Such a patch makes kustomize drop all markers of an
// object. Marks for the patched values are therefore added after the build.
type jsonPatch struct {
	target     types.Selector
	match      *types.SelectorRegex
	operations []operation
}

// jsonPatches returns the overlay's JSON patches whose positions are known.
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

// applies reports whether a patch was applied to a rendered object. names lists possible earlier
// names of the object. The patch may have been applied under one of them.
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

// operationsIn returns the operations of a JSON patch that set values. It returns nil for any
// other kind of patch.
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

// patched adds marks for the values that JSON patches set in an object. It skips values that were
// changed later, and positions with an existing mark in r.marks[first:]. names lists possible
// earlier names of the object.
func (r *results) patched(res *resource.Resource, root *yaml.Node, names []string, first int) {
	taken := lists.SetOf(r.marks[first:], func(m render.Mark) spot { return spot{m.Line, m.Column} })
	for i := len(r.patches) - 1; i >= 0; i-- { // later patches take precedence
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

// child returns the child of n for a step of a JSON pointer. The step is a key or an index. For the
// step "-", child returns the last item, because the operation has already appended it.
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

// set adds marks for the value of an operation. It walks this value and the value in the result in
// parallel.
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
		for i := range min(len(from.Content), len(to.Content)) { // items may have been appended since
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
