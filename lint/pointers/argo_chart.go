package pointers

import (
	"cmp"
	"os"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// argoChart is what a source says of a chart.
func argoChart(v *view, n *source.Node, name string, p *Pointer, spec *source.Node) *Chart {
	helm := n.Get("helm")
	env := environment(v, n, p, spec)
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
		c.Values = blockOf(v, text, p)
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

// blockOf are values that are written as text.
func blockOf(v *view, text *source.Node, p *Pointer) *Text {
	t := BlockText(p.file, text)
	if t.OnlyVariable() { // nothing puts values in place of them
		t.Unknown = ""
	}
	if filled := v.filled(text); filled != text.Value {
		t.Bytes, t.Lines = []byte(filled), nil
	}
	return t
}

// filled is a text with the parameters of an ApplicationSet. Variables of others are text.
func (v *view) filled(n *source.Node) string {
	text := n.Text()
	if v.fill == nil || !strings.Contains(text, "{{") {
		return text
	}
	filled, ok := v.fill(text)
	v.open = v.open || !ok
	return filled
}

// place is a scalar if it says what is deployed.
func (v *view) place(n *source.Node) *source.Node {
	if n == nil || v.fill != nil && strings.Contains(n.Value, "{{") {
		return nil
	}
	return n
}

// variables are what Argo CD puts in place of $NAME in parameters and names of files. What
// is not among them is empty there.
type variables map[string]string

// environment are the variables of one source (argo-cd: newEnv).
func environment(v *view, n *source.Node, p *Pointer, spec *source.Node) variables {
	return variables{
		"ARGOCD_APP_NAME": p.Name, "ARGOCD_APP_NAMESPACE": p.Destination.Namespace,
		"ARGOCD_APP_PROJECT_NAME":           v.aside(spec.Get("project")),
		"ARGOCD_APP_SOURCE_REPO_URL":        v.aside(n.Get("repoURL")),
		"ARGOCD_APP_SOURCE_PATH":            v.aside(n.Get("path")),
		"ARGOCD_APP_SOURCE_TARGET_REVISION": v.aside(n.Get("targetRevision")),
	}
}

// expand puts them in. The revision that is deployed is not known.
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
