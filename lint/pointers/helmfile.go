package pointers

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Helmfile is the kind of a release in a helmfile, which is a pointer to a chart.
const Helmfile Kind = "helmfile release"

// helmfileGroup and helmfileKind are the group and kind of the object that NewHelmfile returns.
const helmfileGroup, helmfileKind = "helmfile", "helmfile"

// HelmfileSource is the kind of the source that holds the files next to a helmfile.
const HelmfileSource = "helmfile"

// IsHelmfile reports whether a file has the name of a helmfile.
func IsHelmfile(name string) bool {
	base, ok := strings.CutSuffix(name, ".gotmpl")
	dir, base := path.Base(path.Dir(name)), path.Base(base)
	return base == "helmfile.yaml" || base == "helmfile.yml" || dir == "helmfile.d" && (ok || path.Ext(base) == ".yaml" || path.Ext(base) == ".yml")
}

// NewHelmfile returns an object for each document with releases in a helmfile. A file with templates
// is not parsed and has one object.
func NewHelmfile(f *source.File) (all []*source.Object) {
	object := func(root *source.Node) {
		all = append(all, &source.Object{File: f, Root: root, APIVersion: helmfileGroup + "/", Kind: helmfileKind, Name: path.Base(f.Name)})
	}
	if bytes.Contains(f.Text, []byte("{{")) {
		object(&source.Node{Kind: source.Map, Line: 1, Column: 1})
		return all
	}
	for _, doc := range f.Roots() {
		if doc != nil && doc.Get("releases").Len() > 0 {
			object(doc)
		}
	}
	return all
}

// helmfile returns a pointer for each release in a document of a helmfile (helmfile: pkg/state).
func (r *Reader) helmfile(o *source.Object, whole Pointer) (all []*Pointer) {
	if bytes.Contains(o.File.Text, []byte("{{")) {
		whole.Why = Reason{What: WhyTemplate, Detail: "a helmfile with templates"}
		return []*Pointer{&whole}
	}
	v := &view{made: &r.written}
	dir := path.Dir(strings.TrimPrefix(o.File.Name, path.Clean(r.Base)+"/"))
	for _, release := range o.Root.Get("releases").Items() {
		if release == nil || release.Kind != source.Map {
			continue
		}
		either := func(field string) *source.Node {
			if n := release.Get(field); !n.IsNull() {
				return n
			}
			return o.Root.Get(field)
		}
		p := whole
		p.Name, p.Line, p.Column, p.Object = release.Get("name").Text(), int(release.Line), int(release.Column), int(release.Line)
		p.Namespace = cmp.Or(o.Root.Get("namespace").Text(), release.Get("namespace").Text())
		p.Destination = Destination{Name: cmp.Or(either("kubeContext").Text(), o.Root.At("helmDefaults", "kubeContext").Text()), Namespace: p.Namespace}
		c := &Chart{Release: p.Name, Namespace: p.Namespace, KubeVersion: either("kubeVersion").Text(), APIVersions: v.texts(either("apiVersions"))}
		handler := release.Get("missingFileHandler").Text()
		c.Missing = handler != "" && handler != "Error"
		s := Source{Repository: Repository{Kind: HelmfileSource}, Chart: c, Namespace: p.Namespace}
		s.Why = r.helmfileValues(v, release, dir, c, o.File.Name)
		for _, key := range strings.Fields("bases chart defaultInherit") {
			if !o.Root.Get(key).IsNull() {
				s.Why = Reason{What: WhyTemplate, Detail: key + " of the helmfile"}
			}
		}
		for _, key := range strings.Fields(`chartPath dependencies inherit jsonPatches postRenderer secrets setTemplate strategicMergePatches
			transformers valuesPathPrefix valuesTemplate conditionTemplate installedTemplate`) {
			if !release.Get(key).IsNull() {
				s.Why = Reason{What: WhyTemplate, Detail: key + " of a helmfile"}
			}
		}
		installed, why := r.installed(o.File, release, dir)
		if p.Suspended = !installed; why.Some() {
			s.Why = why
		}
		r.helmfileChart(o, release, dir, &s)
		p.Sources = []Source{s, {Repository: Repository{Kind: HelmfileSource}, Ref: HelmfileSource, Why: Reason{What: WhyValuesOnly}}}
		all = append(all, &p)
	}
	return all
}

// helmfileChart sets the chart of a release: a directory next to the helmfile, or else a chart in
// one of its repositories.
func (r *Reader) helmfileChart(o *source.Object, release *source.Node, dir string, s *Source) {
	written := release.Get("chart").Text()
	name, ok := within(path.Join(dir, written))
	_, local := slices.BinarySearch(r.Tree.Files(), path.Join(name, "Chart.yaml"))
	repository, rest, _ := strings.Cut(written, "/")
	switch at := slices.IndexFunc(o.Root.Get("repositories").Items(), func(n *source.Node) bool { return n.Get("name").Text() == repository }); {
	case ok && local:
		s.Path = name
	case strings.HasPrefix(written, "oci://"):
		s.Repository, s.Chart.Remote, s.Chart.Version = Repository{URL: written}, true, release.Get("version").Text()
	case strings.Contains(written, "://"):
		s.Why = Reason{What: WhyChart, Detail: Masked(written)}
	case at >= 0:
		s.Repository = Repository{URL: strings.TrimRight(o.Root.Get("repositories").Items()[at].Get("url").Text(), "/")}
		s.Chart.Remote, s.Chart.Name, s.Chart.Version = true, rest, release.Get("version").Text()
	case !ok:
		s.Why = Reason{What: WhyOutside, Detail: written, Refused: true}
	case strings.HasPrefix(written, "."):
		s.Why = Reason{What: WhyMissing, Detail: path.Join(name, "Chart.yaml")}
	default:
		s.Why = Reason{What: WhyChart, Detail: written + ", which is in no repository of the helmfile"}
	}
}

// helmfileValues sets the values of a release. Values files come before values in the helmfile.
func (r *Reader) helmfileValues(v *view, release *source.Node, dir string, c *Chart, file string) Reason {
	for _, item := range release.Get("values").Items() {
		switch {
		case item.IsNull():
		case c.Values != nil:
			return Reason{What: WhyValues, Detail: "values after values that are written in the helmfile"}
		case item.Kind == source.Map:
			if c.Values = textOf(v, file, item); bytes.Contains(c.Values.Bytes, []byte("ref+")) {
				c.Values.Unknown = "a reference to a secret"
			}
		case strings.HasSuffix(item.Text(), ".gotmpl"):
			return Reason{What: WhyTemplate, Detail: "values file " + item.Text()}
		case strings.Contains(item.Text(), "://") || path.IsAbs(item.Text()):
			return Reason{What: WhyValues, Detail: "values file " + Masked(item.Text())}
		default:
			c.Files = append(c.Files, "$"+HelmfileSource+"/"+path.Join(dir, item.Text()))
		}
	}
	for _, field := range []string{"set", "setString"} {
		for _, item := range release.Get(field).Items() {
			value := item.Get("value")
			if value.IsNull() || value.Kind != source.Scalar || strings.HasPrefix(value.Value, "ref+") {
				return Reason{What: WhyValues, Detail: field + " " + item.Get("name").Text()}
			}
			c.Parameters = append(c.Parameters, Parameter{Name: item.Get("name").Text(), Value: value.Value, String: field == "setString", Where: file, At: value})
		}
	}
	return Reason{}
}

// installed reports whether helmfile installs a release in the default environment.
func (r *Reader) installed(file *source.File, release *source.Node, dir string) (bool, Reason) {
	if value, ok := release.Get("installed").Bool(); ok && !value {
		return false, Reason{}
	}
	condition := release.Get("condition")
	if value, ok := condition.Bool(); ok || condition.IsNull() {
		return value || !ok, Reason{}
	}
	var values []*source.Node
	for _, doc := range file.Roots() {
		values = slices.Concat(values, doc.Get("values").Items(), doc.At("environments", "default", "values").Items())
	}
	for _, item := range slices.Backward(values) { // later values take precedence
		if item != nil && item.Kind == source.Scalar {
			item = r.Tree.Read(path.Join(dir, item.Text()))
		}
		if value, ok := item.At(strings.Split(condition.Text(), ".")...).Bool(); ok {
			return value, Reason{}
		}
	}
	return true, Reason{What: WhyValues, Detail: "condition " + condition.Text()}
}
