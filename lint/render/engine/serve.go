package engine

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
)

// serve returns modified contents of files by file name. Kustomize reads these instead of the
// files. URLs are replaced with directories. If m is not nil, markers are added.
func (p *plan) serve(m *marker) (map[string][]byte, *render.Problem) {
	for _, f := range p.tree.real {
		if m != nil && bytes.Contains(f.text, []byte(m.sign[2:])) {
			m = nil // the text already contains something like a marker
		}
	}
	served := map[string][]byte{}
	for _, k := range p.sorted() {
		changes, problem := p.replaced(k)
		if problem != nil {
			return nil, problem
		}
		replaced := len(changes) > 0
		if p.root.Overlay != nil && k == p.rootKustomization() || len(k.charts) > 0 {
			marker := m
			if p.uses[k.name] != asKustomization {
				marker = nil // no markers in its inline patches
			}
			if served[k.name], problem = p.rewritten(marker, k, apply(k.text, changes)); problem != nil {
				return nil, problem
			}
			continue
		}
		if m != nil && p.uses[k.name] == asKustomization {
			changes = append(changes, m.patchesOf(k)...)
		}
		if len(changes) == 0 {
			continue
		}
		served[k.name] = apply(k.text, changes)
		if !replaced {
			continue
		}
		var spec types.Kustomization // parsed in the same way as kustomize does
		if err := spec.Unmarshal(served[k.name]); err != nil {
			return nil, k.problem(nil, refusal("the remotes cannot be replaced: "+err.Error()))
		}
		for _, f := range fields {
			for _, value := range f.get(&spec) {
				if name := named(f.use, value); downloaded(name) {
					return nil, k.problem(k.key(f.field), refusal(f.field+" entry "+shown(masked(value))+" cannot be replaced: it occurs more than once"))
				}
			}
		}
	}
	for _, k := range p.sorted() {
		for _, r := range k.charts {
			text, err := r.printed.resource(m)
			if err != nil {
				return nil, r.problem("name", fmt.Errorf("what the chart prints cannot be read: %w", err))
			}
			served[r.printed.name] = text
		}
	}
	maps.Copy(served, p.cut)
	if m != nil {
		for _, name := range sorting.Keys(p.parsed) {
			if changes := p.marked(m, name); len(changes) > 0 {
				served[name] = apply(p.textOf(name), changes)
			}
		}
	}
	return served, nil
}

// rootKustomization returns the kustomization of the root.
func (p *plan) rootKustomization() *kustomization {
	return p.kusts[p.tree.read(p.root.Dir).name]
}

// marked returns the changes that add markers to a resource or a strategic merge patch. A file with
// other uses gets no markers.
func (p *plan) marked(m *marker, name string) []change {
	used := p.uses[name] &^ asChart
	if used == 0 || used&^(asResource|asPatch) != 0 || p.parsed[name].err != nil {
		return nil
	}
	text := p.textOf(name)
	start := bytes.TrimLeft(text, " \t\r\n")
	l, ok := newLines(text)
	if !ok || bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("[")) { // JSON
		return nil
	}
	file := m.file(name)
	var changes []change
	for i, root := range p.parsed[name].docs {
		if !isMapping(root) {
			continue
		}
		if used&asResource == 0 {
			i = -1
		}
		changes = append(changes, m.mark(l, document{root: root, file: file, doc: i})...)
	}
	return changes
}

// replaced returns the changes that replace URLs in a kustomization with directories.
func (p *plan) replaced(k *kustomization) ([]change, *render.Problem) {
	edits := p.edits[k.name]
	if len(edits) == 0 {
		return nil, nil
	}
	var changes []change
	l, ok := newLines(k.text)
	for _, e := range edits {
		start, end := 0, 0
		if ok {
			start, end, ok = l.scalar(e.entry.node)
		}
		if !ok {
			return nil, e.entry.problem(refusal(e.entry.label() + " cannot be replaced with a directory: write it as a plain or quoted string on one line, in UTF-8"))
		}
		changes = append(changes, change{start, end, quoted(e.value)})
	}
	return changes, nil
}

// patchesOf returns the changes that add markers to the strategic merge patches in literal blocks
// of a kustomization.
func (m *marker) patchesOf(k *kustomization) []change {
	l, ok := newLines(k.text)
	if !ok {
		return nil
	}
	file := -1
	var changes []change
	for _, block := range k.inlinePatches() {
		doc := inline(block.Value)
		inner, ok := newLines([]byte(block.Value))
		if doc == nil || !ok {
			continue
		}
		if file < 0 {
			file = m.file(k.name)
		}
		for _, root := range doc.docs {
			if isMapping(root) {
				changes = append(changes, m.mark(l, document{root, file, -1, inBlock(l, inner, block.Line)})...)
			}
		}
	}
	return changes
}

// inlinePatches returns the nodes of all patches in literal blocks. Each node occurs once.
func (k *kustomization) inlinePatches() []*yaml.Node {
	var all []*yaml.Node
	add := func(n *yaml.Node) {
		if n != nil && n.Kind == yaml.ScalarNode && n.Style&yaml.LiteralStyle != 0 && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	root := k.root()
	if !isMapping(root) {
		return nil
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		list := target(root.Content[i+1])
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range list.Content {
			switch key := strings.ToLower(root.Content[i].Value); key {
			case "patchesstrategicmerge":
				add(target(item))
			case "patches":
				add(fieldFold(item, "patch"))
			}
		}
	}
	return all
}

// inBlock returns a function that converts positions in the text of a literal block to positions in
// the file. The argument above is the number of the line directly before the text.
func inBlock(file, block *lines, above int) func(line, column int) (int, int, bool) {
	return func(line, column int) (int, int, bool) {
		indent, ok := bytes.CutSuffix(file.line(above+line), block.line(line))
		if !ok || len(bytes.Trim(indent, " ")) > 0 {
			return 0, 0, false
		}
		return above + line, column + len(indent), true
	}
}
