package pointers

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// kustomization reads a Flux Kustomization into a pointer.
func (r *Reader) kustomization(o *source.Object, p *Pointer) {
	spec, v := o.Root.Get("spec"), &view{}
	p.flux(v, spec)
	s := Source{Repository: sourceRef(v, spec.Get("sourceRef"), o.Namespace), Form: Generated}
	// The controller joins the path to the root so that the result never leaves the root.
	written := v.text(spec.Get("path"))
	name, ok := within(strings.TrimLeft(written, "/"))
	s.Path = name
	published, isPublished := r.Repositories.published[s.Repository]
	switch kind := s.Repository.Kind; {
	case v.open:
		s.Why = Reason{What: WhyVariable, Detail: "path or source holds a variable"}
	case !ok:
		s.Why = Reason{What: WhyOutside, Detail: written, Refused: true}
	case isPublished:
		s.Path = path.Join(published, name)
	case kind != "" && kind != gitRepository && kind != ExternalArtifact:
		s.Why = Reason{What: WhySource, Detail: kind + " " + s.Repository.Name}
	}
	s.Labels = v.pairs(spec.At("commonMetadata", "labels"))
	f, plain := fields{}, &view{}
	f.set("namespace", spec.Get("targetNamespace").Text())
	f.set("namePrefix", spec.Get("namePrefix").Text())
	f.set("nameSuffix", spec.Get("nameSuffix").Text())
	for _, list := range []string{"images", "components"} {
		f.set(list, plain.plain(spec.Get(list)))
	}
	patches, lines := fluxPatches(plain, spec)
	if len(patches) > 0 {
		f.set("patches", patches)
	}
	s.Fields, s.Patches = f.text(), lines
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

// flux reads the fields shared by Kustomizations and HelmReleases.
func (p *Pointer) flux(v *view, spec *source.Node) {
	p.Suspended = truth(spec.Get("suspend"))
	p.Destination.Namespace = v.text(spec.Get("targetNamespace"))
	if spec.Get("kubeConfig").Len() > 0 {
		p.Destination.Name = cmp.Or(v.text(spec.At("kubeConfig", "secretRef", "name")), v.text(spec.At("kubeConfig", "configMapRef", "name")), "another cluster")
	}
}

// sourceRef returns the repository that a Flux object names.
func sourceRef(v *view, ref *source.Node, namespace string) Repository {
	return Repository{Kind: v.text(ref.Get("kind")), Namespace: cmp.Or(v.text(ref.Get("namespace")), namespace), Name: v.text(ref.Get("name"))}
}

// fluxPatches returns a Flux object's patches and the lines at which they begin.
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

// ValueOf returns a variable's value and its position. n is the YAML node of the value. ValueOf
// removes line breaks, as Flux does.
func ValueOf(file string, n *source.Node) Value {
	v := Value{Text: strings.ReplaceAll(n.Text(), "\n", ""), File: file}
	if v.Text == n.Text() {
		v.Line, v.Column = int(n.Line), int(n.Column)
	}
	return v
}

// releaseChart sets a release's chart. The chart's settings are in the release or in an object that
// the release names.
func (r *Reader) releaseChart(v *view, o *source.Object, s *Source) {
	chart, namespace := o.Root.At("spec", "chart", "spec"), o.Namespace
	if ref := o.Root.At("spec", "chartRef"); chart.Len() == 0 {
		s.Repository = sourceRef(v, ref, o.Namespace)
		if s.Repository.Kind == ExternalArtifact {
			return
		}
		if s.Repository.Kind != "HelmChart" {
			s.Chart.Remote = true
			r.locate(s)
			return
		}
		named := r.Repositories.find(s.Repository)
		if len(named) != 1 {
			s.Why = Reason{What: WhyChart, Detail: s.Repository.String() + " is not in the tree"}
			return
		}
		chart, namespace = named[0].Root.Get("spec"), cmp.Or(named[0].Namespace, s.Repository.Namespace)
	}
	c := s.Chart
	s.Repository = sourceRef(v, chart.Get("sourceRef"), namespace)
	c.Files, c.Missing = v.texts(chart.Get("valuesFiles")), truth(chart.Get("ignoreMissingValuesFiles"))
	c.Replace = len(c.Files) > 0
	written := v.text(chart.Get("chart"))
	switch s.Repository.Kind {
	case "GitRepository":
		// The controller joins the path to the root so that the result never leaves the root.
		dir, ok := within(strings.TrimLeft(written, "/"))
		if s.Path = path.Clean(dir); !ok {
			s.Why = Reason{What: WhyOutside, Detail: written, Refused: true}
		}
	case "HelmRepository":
		c.Remote, c.Name, c.Version = true, written, v.text(chart.Get("version"))
		r.locate(s)
	default:
		s.Why = Reason{What: WhySource, Detail: s.Repository.String()}
	}
	if !s.Why.Some() && chart.Get("valuesFile").Text() != "" { // exists only in API versions that are no longer served
		s.Why = Reason{What: WhyValues, Detail: "valuesFile: write valuesFiles"}
	}
}

// locate sets the address of a chart repository or of a chart in an OCI repository.
func (r *Reader) locate(s *Source) {
	objects := r.Repositories.find(s.Repository)
	var urls []string
	for _, o := range objects {
		urls = append(urls, strings.TrimRight(o.Root.At("spec", "url").Text(), "/"))
		if s.Repository.Kind == ociRepository {
			ref := o.Root.At("spec", "ref")
			s.Chart.Version = cmp.Or(ref.Get("semver").Text(), ref.Get("tag").Text())
			if s.Chart.Digest = ref.Get("digest").Text(); s.Chart.Digest != "" {
				s.Chart.Version = ""
			}
		}
	}
	slices.Sort(urls)
	switch urls = slices.Compact(urls); {
	case len(urls) == 0:
		s.Why = Reason{What: WhyChart, Detail: strings.TrimPrefix(s.Chart.Name+" of "+s.Repository.String()+", which is not in the tree", " of ")}
	case len(urls) > 1:
		s.Why = Reason{What: WhyChart, Detail: "there are several objects " + s.Repository.String()}
	case urls[0] == "" || strings.Contains(urls[0], "${"):
		s.Why = Reason{What: WhyVariable, Detail: "the address of " + s.Repository.String()}
	default:
		s.Repository.URL = urls[0]
	}
}

// postRenderers adds the patches and images from a release's post-renderers. They become part of
// one kustomization, which applies images last. Therefore only the last post-renderer may have
// images.
func postRenderers(list *source.Node, s *Source) {
	f, v := fields{}, &view{}
	var patches []any
	for i, one := range list.Items() {
		k := one.Get("kustomize")
		if k.Len() == 0 && one.Len() > 0 {
			s.Why = Reason{What: WhyPostRender, Detail: "one that is not kustomize"}
			return
		}
		if images := v.plain(k.Get("images")); images != nil {
			if f.set("images", images); i+1 < list.Len() {
				s.Why = Reason{What: WhyPostRender, Detail: "images before the patches of another one"}
				return
			}
		}
		more, lines := fluxPatches(v, k)
		patches, s.Patches = append(patches, more...), append(s.Patches, lines...)
	}
	if len(patches) > 0 {
		f.set("patches", patches)
	}
	s.Fields = f.text()
}
