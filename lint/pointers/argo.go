package pointers

import (
	"cmp"
	"os"
	"strings"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// application reads an Application's spec into a pointer.
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

// argoSource reads one source in an Application.
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
		s.Counts = map[string]Value{}
		for _, r := range n.At("kustomize", "replicas").Items() {
			if n := r.Get("count"); n != nil && n.Kind == source.Scalar {
				s.Counts[r.Get("name").Text()] = Value{Text: n.Value, Line: int(n.Line), Column: int(n.Column)}
			}
		}
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

// argoFields returns the fields that an Application adds to the kustomization, as JSON. lines holds
// the lines at which inline patches begin.
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
	images = append(images, lists.Of(v.texts(k.Get("images")), func(image string) any { return imageOf(image) })...)
	for _, r := range k.Get("replicas").Items() {
		text := v.text(r.Get("count"))
		var count any = text // it may be a number; the decoder rejects other values
		if i, ok := (&source.Node{Kind: source.Scalar, Type: source.Int, Value: text}).Int(); ok {
			count = i
		}
		replicas = append(replicas, map[string]any{"name": v.text(r.Get("name")), "count": count})
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

// imageOf parses an image in the format of kustomize edit set image. The format is
// old=new:tag@digest, or new:tag if the name does not change.
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

// argoChart returns a source's chart settings.
func argoChart(v *view, n *source.Node, name string, p *Pointer, spec *source.Node) *Chart {
	helm := n.Get("helm")
	env := variables{
		"ARGOCD_APP_NAME": p.Name, "ARGOCD_APP_NAMESPACE": p.Destination.Namespace,
		"ARGOCD_APP_PROJECT_NAME":           v.aside(spec.Get("project")),
		"ARGOCD_APP_SOURCE_REPO_URL":        v.aside(n.Get("repoURL")),
		"ARGOCD_APP_SOURCE_PATH":            v.aside(n.Get("path")),
		"ARGOCD_APP_SOURCE_TARGET_REVISION": v.aside(n.Get("targetRevision")),
	}
	c := &Chart{
		Remote: name != "", Name: name, Release: cmp.Or(v.text(helm.Get("releaseName")), p.Name),
		Namespace: cmp.Or(v.text(helm.Get("namespace")), p.Destination.Namespace), KubeVersion: v.text(helm.Get("kubeVersion")),
		APIVersions: v.texts(helm.Get("apiVersions")), Missing: truth(helm.Get("ignoreMissingValueFiles")),
	}
	if c.Remote {
		c.Version = v.text(n.Get("targetRevision"))
	}
	for _, item := range helm.Get("valueFiles").Items() {
		file := v.filled(item)
		if ref, rest, ok := strings.Cut(file, "/"); ok && strings.HasPrefix(ref, "$") && !strings.Contains(ref, "{") {
			file = ref + "/" + env.expand(v, rest)
		} else {
			file = env.expand(v, file)
		}
		c.Files = append(c.Files, file)
	}
	if object := helm.Get("valuesObject"); !object.IsNull() {
		c.Values = textOf(v, p.file.Name, object)
	} else if text := helm.Get("values"); text.Text() != "" {
		c.Values = BlockText(p.file, text)
		if c.Values.OnlyVariable() { // Argo CD does not substitute them
			c.Values.Unknown = ""
		}
		if filled := v.filled(text); filled != text.Value {
			c.Values.Bytes, c.Values.Lines = []byte(filled), nil
		}
	}
	for _, item := range helm.Get("parameters").Items() {
		if at := item.Get("value"); item.Get("name").Text() != "" {
			one := Parameter{Name: v.text(item.Get("name")), Value: env.expand(v, v.filled(at)), String: truth(item.Get("forceString")), Where: p.file.Name}
			if one.Value == at.Text() {
				one.At = at
			}
			c.Parameters = append(c.Parameters, one)
		}
	}
	for _, item := range helm.Get("fileParameters").Items() {
		c.Parameters = append(c.Parameters, Parameter{Name: v.text(item.Get("name")), Value: env.expand(v, v.text(item.Get("path"))), File: true, Where: p.file.Name})
	}
	return c
}

// filled returns the text of a scalar after the substitution of ApplicationSet parameters.
// Variables of other tools are plain text.
func (v *view) filled(n *source.Node) string {
	text := n.Text()
	if v.fill == nil || !strings.Contains(text, "{{") {
		return text
	}
	filled, ok := v.fill(text)
	v.open = v.open || !ok
	return filled
}

// place returns n as the position of its text. It returns nil if the text contains ApplicationSet
// parameters, because the deployed text then differs from the written text.
func (v *view) place(n *source.Node) *source.Node {
	if n == nil || v.fill != nil && strings.Contains(n.Value, "{{") {
		return nil
	}
	return n
}

// variables holds the values that Argo CD substitutes for $NAME in parameters and file names. Argo
// CD replaces unknown names with an empty string (argo-cd: newEnv).
type variables map[string]string

// expand substitutes the variables in text. If text contains a revision variable, the result is
// unknown, because the deployed revision is unknown.
func (all variables) expand(v *view, text string) string {
	if !strings.Contains(text, "$") || !v.charge(len(text)) {
		return text
	}
	return os.Expand(text, func(name string) string {
		switch value, ok := all[name]; {
		case name == "$":
			return "$"
		case ok:
			v.open = v.open || strings.Contains(value, "{{") || strings.Contains(value, "${")
			return value
		case strings.HasPrefix(name, "ARGOCD_APP_REVISION"):
			v.open = true
		}
		return ""
	})
}
