package pointers

import (
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// application reads the spec of an Application.
func (r *Reader) application(v *view, spec *source.Node, p *Pointer) {
	to := spec.Get("destination")
	p.Destination = Destination{v.text(to.Get("name")), v.text(to.Get("server")), v.text(to.Get("namespace"))}
	open := v.open
	all := spec.Get("sources").Items()
	if len(all) == 0 {
		all = []*source.Node{spec.Get("source")}
	}
	for _, n := range all {
		v.open = false
		p.Sources = append(p.Sources, argoSource(v, n, p, spec))
	}
	v.open = open
}

// argoSource reads one source.
func argoSource(v *view, n *source.Node, p *Pointer, spec *source.Node) Source {
	namespace := p.Destination.Namespace
	s := Source{
		Repository: Repository{URL: v.text(n.Get("repoURL"))}, Form: Detected, Namespace: namespace, Ref: v.text(n.Get("ref")),
		Files: Files{truth(n.At("directory", "recurse")), v.text(n.At("directory", "include")), v.text(n.At("directory", "exclude"))},
	}
	written := v.text(n.Get("path"))
	name, ok := within(written)
	chart := v.text(n.Get("chart"))
	helm := n.Get("helm")
	s.Path, s.Revision = name, v.aside(n.Get("targetRevision"))
	s.Fields, s.Patches = argoFields(v, n.Get("kustomize"))
	if v.fill == nil {
		s.Counts = counts(n.At("kustomize", "replicas"))
	}
	switch {
	case n.Get("repoURL").IsNull():
		s.Why = Reason{What: WhyMalformed, Detail: "a source has no repoURL"}
	case chart != "" || helm.Len() > 0 && n.Get("kustomize").Len() == 0:
		s.Chart = argoChart(v, n, chart, p, spec)
	case n.Get("plugin").Len() > 0:
		s.Why = Reason{What: WhyPlugin, Detail: v.text(n.At("plugin", "name"))}
	case written == "" && s.Ref != "":
		s.Why = Reason{What: WhyValuesOnly}
	case n.At("directory", "jsonnet").Len() > 0:
		s.Why = Reason{What: WhyJsonnet, Detail: written}
	case written == "":
		s.Why = Reason{What: WhyMalformed, Detail: "a source has neither path nor chart"}
	case s.Fields != nil:
		s.Form = Kustomized
	case n.Get("directory").Len() > 0:
		s.Form = Directory
	}
	switch {
	case v.open:
		s.Why = Reason{What: WhyVariable, Detail: "a source holds a variable"}
	case !ok:
		s.Why = Reason{What: WhyOutside, Detail: written, Refused: true}
	}
	return s
}

// argoFields are what an Application adds to the kustomization.
func argoFields(v *view, k *source.Node) (text []byte, lines []int) {
	if k.Len() == 0 {
		return nil, nil
	}
	f := fields{}
	for _, name := range []string{"namespace", "namePrefix", "nameSuffix"} {
		f.set(name, v.text(k.Get(name)))
	}
	for _, name := range []string{"patches", "components"} {
		f.set(name, v.plain(k.Get(name)))
	}
	if labels := v.pairs(k.Get("commonLabels")); labels != nil {
		f.set("labels", []any{map[string]any{
			"pairs": labels, "includeSelectors": !truth(k.Get("labelWithoutSelector")), "includeTemplates": truth(k.Get("labelIncludeTemplates")),
		}})
	}
	if notes := v.pairs(k.Get("commonAnnotations")); notes != nil {
		f.set("commonAnnotations", notes)
	}
	var images, replicas []any
	for _, image := range v.texts(k.Get("images")) {
		images = append(images, imageOf(image))
	}
	for _, r := range k.Get("replicas").Items() {
		replicas = append(replicas, map[string]any{"name": v.text(r.Get("name")), "count": count(v, r.Get("count"))})
	}
	if len(images) > 0 {
		f.set("images", images)
	}
	if len(replicas) > 0 {
		f.set("replicas", replicas)
	}
	if len(f) == 0 {
		return []byte("{}"), nil
	}
	if _, patched := f["patches"]; patched && v.fill == nil {
		lines = patchLines(k.Get("patches"))
	}
	return f.text(), lines
}

// counts are where numbers of replicas are written.
func counts(list *source.Node) map[string]Value {
	all := map[string]Value{}
	for _, r := range list.Items() {
		if n := r.Get("count"); n != nil && n.Kind == source.Scalar {
			all[r.Get("name").Text()] = Value{Text: n.Value, Line: int(n.Line), Column: int(n.Column)}
		}
	}
	return all
}

// count is a number, which may be written as text.
func count(v *view, n *source.Node) any {
	text := &source.Node{Kind: source.Scalar, Type: source.Int, Value: v.text(n)}
	if i, ok := text.Int(); ok {
		return i
	}
	return text.Value // refused by whoever decodes it
}

// imageOf reads an image as kustomize edit set image takes it: old=new:tag@digest, or
// new:tag alone.
func imageOf(text string) map[string]any {
	old, image, renamed := strings.Cut(text, "=")
	if !renamed {
		image = old
	}
	image, digest, _ := strings.Cut(image, "@")
	name, tag := image, ""
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		name, tag = image[:i], image[i+1:]
	}
	f := fields{}
	if !renamed {
		old = name
	} else {
		f.set("newName", name)
	}
	f.set("name", old)
	f.set("newTag", tag)
	f.set("digest", digest)
	return f
}
