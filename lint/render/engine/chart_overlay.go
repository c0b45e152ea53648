package engine

import (
	"path"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/schedlint/schedlint/lint/render"
)

// chartOverlaid is the kustomization of a chart with an overlay: what the chart prints is
// all that it has. Nobody else's kustomization counts in the directory of the chart.
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
