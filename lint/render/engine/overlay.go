package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/render"
)

// placeholder prevents kustomize from rejecting a kustomization without any field.
const placeholder = "_placeholder"

// generated returns a kustomization for a directory that has none: everything in it that contains
// objects.
func (p *plan) generated(dir string) *kustomization {
	spec := types.Kustomization{}
	for _, name := range p.root.Overlay.Resources {
		holds := true // contains objects, or is for kustomize to judge
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
	k.text, _ = json.Marshal(&spec) // it consists of strings
	p.tree.files[k.name] = &file{name: k.name, text: k.text}
	return k
}

// overlay adds the overlay of the root to its kustomization and to its entries.
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

// added returns the fields of the overlay.
func (p *plan) added() (*types.Kustomization, error) {
	add := &types.Kustomization{}
	if fields := p.root.Overlay.Fields; len(fields) > 0 {
		if err := json.Unmarshal(fields, add); err != nil {
			return nil, fmt.Errorf("the fields for kustomize cannot be read: %w", err)
		}
	}
	return add, nil
}

// merge changes a kustomization like controllers do (fluxcd/pkg: kustomize; argo-cd: kustomize
// edit).
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

// replaced returns a list in which an item replaces the one with the same name.
func replaced[T any](list []T, item T, name func(T) string) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(t T) bool { return name(t) == name(item) })
	return append(list, item)
}

// rewritten returns the text of a kustomization with the overlay, if it is the root's, and with the
// output of its charts; base is the text without them. If m is not nil, inline patches get markers.
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

// ownPatches adds markers to the patches of a kustomization itself. Each literal block is the next
// patch of its text.
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

// pointerFile returns the file of the pointer, or nil if no patch has a place in it.
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

// block adds markers to the text of a literal block that begins at a line of a file. It returns the
// text unchanged if the file has a different text there.
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

// finish changes the result like the controller does after the build.
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

// pointed moves a problem to the pointer if it is in no file, or if its place in the kustomization
// is not known and the pointer adds to that kustomization.
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

// pointedAt returns a problem at the pointer.
func (p *plan) pointedAt(err error) *render.Problem {
	problem := (&kustomization{}).problem(nil, err)
	problem.File, problem.Line = p.root.Overlay.File, p.root.Overlay.Line
	return problem
}

// chartOverlaid returns a kustomization for a chart with an overlay: the output of the chart is its
// only content. A kustomization in the directory of the chart does not count.
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
