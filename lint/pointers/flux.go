package pointers

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// kustomization reads a Kustomization of Flux.
func kustomization(o *source.Object, p *Pointer) {
	spec, v := o.Root.Get("spec"), &view{}
	p.flux(v, spec)
	s := Source{Repository: sourceRef(v, spec.Get("sourceRef"), o.Namespace), Form: Generated}
	// The controller joins the path to its root so that it cannot leave it.
	written := v.text(spec.Get("path"))
	name, ok := within(strings.TrimLeft(written, "/"))
	s.Path = name
	switch kind := s.Repository.Kind; {
	case v.open:
		s.Why = Reason{What: WhyVariable, Detail: "path or source holds a variable"}
	case !ok:
		s.Why = Reason{What: WhyOutside, Detail: written, Refused: true}
	case kind != "" && kind != "GitRepository":
		s.Why = Reason{What: WhySource, Detail: kind + " " + s.Repository.Name}
	}
	s.Labels = v.pairs(spec.At("commonMetadata", "labels"))
	s.Fields, s.Patches = fluxFields(spec)
	p.Sources = []Source{s}
	if post := spec.Get("postBuild"); post != nil && !post.IsNull() {
		p.Substitution = &Substitution{Given: map[string]Value{}}
		for key, value := range post.Get("substitute").Fields() {
			p.Substitution.Given[key.Value] = ValueOf(o.File.Name, value)
		}
		for _, ref := range post.Get("substituteFrom").Items() {
			p.Substitution.From = append(p.Substitution.From, Reference{Kind: ref.Get("kind").Text(), Namespace: o.Namespace, Name: ref.Get("name").Text(), Optional: truth(ref.Get("optional"))})
		}
	}
}

// flux reads what both pointers of Flux have.
func (p *Pointer) flux(v *view, spec *source.Node) {
	p.Suspended = truth(spec.Get("suspend"))
	p.Destination.Namespace = v.text(spec.Get("targetNamespace"))
	if spec.Get("kubeConfig").Len() > 0 {
		p.Destination.Name = cmp.Or(v.text(spec.At("kubeConfig", "secretRef", "name")), v.text(spec.At("kubeConfig", "configMapRef", "name")), "another cluster")
	}
}

// sourceRef is the repository that an object of Flux names.
func sourceRef(v *view, ref *source.Node, namespace string) Repository {
	return Repository{Kind: v.text(ref.Get("kind")), Namespace: cmp.Or(v.text(ref.Get("namespace")), namespace), Name: v.text(ref.Get("name"))}
}

// fluxFields are what a Kustomization adds to that of its directory.
func fluxFields(spec *source.Node) (text []byte, lines []int) {
	f, v := fields{}, &view{}
	f.set("namespace", spec.Get("targetNamespace").Text())
	f.set("namePrefix", spec.Get("namePrefix").Text())
	f.set("nameSuffix", spec.Get("nameSuffix").Text())
	for _, list := range []string{"images", "components"} {
		f.set(list, v.plain(spec.Get(list)))
	}
	patches, lines := fluxPatches(v, spec)
	if len(patches) > 0 {
		f.set("patches", patches)
	}
	return f.text(), lines
}

// fluxPatches are the patches of an object of Flux, and the lines at which they begin.
func fluxPatches(v *view, spec *source.Node) (patches []any, lines []int) {
	patches, _ = v.plain(spec.Get("patches")).([]any)
	lines = patchLines(spec.Get("patches"))
	for _, patch := range spec.Get("patchesStrategicMerge").Items() {
		patches, lines = append(patches, map[string]any{"patch": jsonText(v.plain(patch))}), append(lines, 0)
	}
	for _, patch := range spec.Get("patchesJson6902").Items() {
		patches = append(patches, map[string]any{"patch": jsonText(v.plain(patch.Get("patch"))), "target": v.plain(patch.Get("target"))})
		lines = append(lines, 0)
	}
	return patches, lines
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "{"
	}
	return string(text)
}

// ValueOf is the value of a variable in a map: Flux takes line breaks out of it.
func ValueOf(file string, n *source.Node) Value {
	v := Value{Text: strings.ReplaceAll(n.Text(), "\n", ""), File: file}
	if v.Text == n.Text() {
		v.Line, v.Column = int(n.Line), int(n.Column)
	}
	return v
}
