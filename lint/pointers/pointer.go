package pointers

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Kind is a pointer kind, including the controller's name, for example Flux Kustomization.
type Kind string

// Values of Kind.
const (
	FluxKustomization Kind = "Flux Kustomization"
	FluxHelmRelease   Kind = "Flux HelmRelease"
	Application       Kind = "Argo CD Application"
	ApplicationSet    Kind = "Argo CD ApplicationSet"
)

// Inputs returns the word for pointers of the kind in a count of inputs.
func (k Kind) Inputs() string {
	switch k {
	case Helmfile, FluxHelmRelease:
		return "releases"
	case FluxKustomization:
		return "kustomizations"
	}
	return "Applications"
}

// KindOf returns the pointer kind for a group and kind, regardless of the API version. ok is false
// if objects of that kind are not pointers.
func KindOf(group, kind string) (of Kind, ok bool) {
	of, ok = map[[2]string]Kind{
		{"kustomize.toolkit.fluxcd.io", "Kustomization"}: FluxKustomization,
		{"helm.toolkit.fluxcd.io", "HelmRelease"}:        FluxHelmRelease,
		{"argoproj.io", "Application"}:                   Application,
		{"argoproj.io", "ApplicationSet"}:                ApplicationSet,
		{helmfileGroup, helmfileKind}:                    Helmfile,
	}[[2]string{group, kind}]
	return of, ok
}

// Pointer is an object that names what a controller deploys.
type Pointer struct {
	Kind            Kind
	Namespace, Name string
	// Written is the object's name. It differs from Name if an ApplicationSet generated the
	// pointer.
	Written string
	// File, Line and Column are the pointer's position. Object is the line of the object's name.
	// Line and Object differ if an ApplicationSet generated the pointer from a list item.
	File         string
	Line, Column int
	Object       int
	// Suspended is set if the controller currently ignores the pointer.
	Suspended bool
	// Destination is the cluster and namespace that the pointer deploys to.
	Destination Destination
	// Sources lists the sources, which are deployed together but rendered separately.
	Sources []Source
	// Substitution holds the variables that the controller substitutes in the rendered objects, or
	// nil.
	Substitution *Substitution
	// Why says why the pointer cannot be followed, or is zero.
	Why Reason

	file *source.File
}

// Destination is a cluster and a namespace. The cluster is identified by Name or by Server. If both
// are empty, it is the cluster where Flux itself runs.
type Destination struct{ Name, Server, Namespace string }

// Reason says why something is not rendered. A zero Reason means that nothing prevents rendering.
type Reason struct {
	// What is one of the constants below. Detail describes the individual case.
	What, Detail string
	// Refused is set if the cause is a mistake or an attack and must therefore be reported.
	Refused bool
}

// Some reports whether the reason is not zero.
func (r Reason) Some() bool { return r.What != "" }

// String returns the reason on one line.
func (r Reason) String() string {
	if r.Detail == "" {
		return r.What
	}
	return r.What + ": " + r.Detail
}

// Values of Reason.What.
const (
	WhyChart      = "Helm chart"
	WhyElsewhere  = "another repository"
	WhySource     = "source that is not a Git repository"
	WhyMissing    = "path that does not exist"
	WhyOutside    = "path outside of the repository"
	WhyVariable   = "variable in the pointer"
	WhyGenerator  = "generator that queries the cluster or a service"
	WhyTemplate   = "template too complex to expand"
	WhyPlugin     = "plugin"
	WhyJsonnet    = "Jsonnet"
	WhyMalformed  = "pointer that cannot be read"
	WhyTooMany    = "too many pointers"
	WhyCluster    = "remote cluster"
	WhySuspended  = "suspended"
	WhyValuesOnly = "source of values only"
	WhyValues     = "values that are not known"
	WhyPostRender = "post-renderer"
)

// Source is one directory or chart that a pointer deploys.
type Source struct {
	Repository Repository
	// Path is the directory's path from the repository root.
	Path string
	// Revision is the branch, tag or commit that an Application requests.
	Revision string
	// Form says how to turn the directory into objects.
	Form Form
	// Files selects the files if Form is Directory.
	Files Files
	// Chart holds the chart settings, or nil if the source is not a chart.
	Chart *Chart
	// Ref is the name by which the pointer's other sources refer to this source's files.
	Ref string
	// Fields holds the fields that the pointer adds to the kustomization, as JSON, or nil. Patches
	// holds the line at which each inline patch in Fields begins. An unknown line is 0.
	Fields  []byte
	Patches []int
	// Counts holds the replica counts in Fields, by object name.
	Counts map[string]Value
	// Labels are set on every object. Namespace is set on objects that do not have one.
	Labels    map[string]string
	Namespace string
	// Why says why the source cannot be rendered, or is zero.
	Why Reason
}

// Address returns the chart's address in a chart repository.
func (s *Source) Address() string {
	return strings.TrimSuffix(strings.TrimRight(s.Repository.URL, "/")+"/"+s.Chart.Name, "/")
}

// Form is a way to turn a directory into objects.
type Form int

// Values of Form. Generated means a kustomization. If the directory has none, a kustomization is
// generated from all files, as in Flux. Detected means a chart, a kustomization or a plain
// directory, depending on the files that Argo CD finds.
const (
	Generated Form = iota
	Detected
	Kustomized
	Directory
)

// Files selects files in a directory by globs. Recurse also selects files in subdirectories.
type Files struct {
	Recurse          bool
	Include, Exclude string
}

// Repository identifies a repository by its address. In Flux, an object that contains the address
// may identify the repository instead.
type Repository struct {
	URL                   string
	Kind, Namespace, Name string
}

// Chart holds a pointer's settings for a chart.
type Chart struct {
	// Remote is set if the chart is not in the directory at the source's Path. The chart is then in
	// a chart repository under the field Name, or only a Flux object identifies the chart.
	Remote bool
	Name   string
	// Version is a version or a version range, or empty for any version. Digest is the digest that an
	// OCIRepository asks for, or empty.
	Version, Digest string
	// Release and Namespace identify the Helm release.
	Release, Namespace string
	// KubeVersion and APIVersions describe the assumed cluster capabilities.
	KubeVersion string
	APIVersions []string
	// Files lists values files. Replace is set in Flux. The files then replace the chart's own
	// values file, and their names are relative to the root of the chart's repository. In Argo CD,
	// the files come after the chart's own values, and their names are relative to the chart. A
	// name that starts with $ref is relative to another source. Missing is set if files that do not
	// exist are skipped.
	Files            []string
	Replace, Missing bool
	// From lists objects that contain values. Values holds the values in the pointer itself, or
	// nil. Parameters holds single values. Values overrides From, and Parameters overrides both.
	From       []Reference
	Values     *Text
	Parameters []Parameter
}

// Parameter is a single value, like an argument to --set.
type Parameter struct {
	Name string
	// Value is the value. If File is set, Value is instead the name of the file that contains the
	// value. String is set if the value is always a string, even if it looks like a number or
	// boolean.
	Value        string
	String, File bool
	// Where is the file that contains the parameter. At is the position in this file, or nil if it
	// is unknown.
	Where string
	At    *source.Node
}

// Reference refers to an object that contains values. If Target is empty, the data at Key is a
// values file. Otherwise, the data is a single value for the path Target. Literal is set if this
// value is always a string.
type Reference struct {
	Kind, Namespace, Name string
	Optional              bool
	Key, Target           string
	Literal               bool
}

// Substitution holds variable values, and references to objects with more values.
type Substitution struct {
	Given map[string]Value
	From  []Reference
}

// Value is a string and the position at which it was written.
type Value struct {
	Text         string
	File         string
	Line, Column int
}

// within cleans a path from a pointer. ok is false if the path is outside the repository.
func within(text string) (name string, ok bool) {
	name = path.Clean(text)
	return name, worktree.Local(name) && !strings.ContainsAny(name, "\x00\\")
}

// Reader reads the pointers in one repository.
type Reader struct {
	Repositories *Repositories
	Tree         Tree
	// Clusters answers the generators that ask Argo CD for its clusters. If it is empty, the
	// clusters are unknown.
	Clusters []Cluster
	// Files lists the file of the objects that are read, and the kustomization that contains them.
	Files []string
	// Base is the repository root relative to the names of files.
	Base string

	applications int // number of generated Applications so far
	matches      int
	made         int // bytes of template output so far
	written      int // bytes of chart values so far
}

// Read converts an object to pointers. It returns nil if the object is not a pointer. If an
// ApplicationSet's Applications are unknown, it returns a pointer with a reason.
func (r *Reader) Read(o *source.Object) []*Pointer {
	kind, ok := KindOf(o.Group(), o.Kind)
	if !ok {
		return nil
	}
	at := o.NameSpan()
	p := Pointer{Kind: kind, Namespace: o.Namespace, Name: o.Name, Written: o.Name, File: o.File.Name, Line: max(at.Line, 1), Column: max(at.Column, 1), Object: max(at.Line, 1), file: o.File}
	if kind == Helmfile {
		return r.helmfile(o, p)
	}
	if o.Root.Get("spec").Len() == 0 {
		p.Why = Reason{What: WhyMalformed, Detail: "has no spec"}
		return []*Pointer{&p}
	}
	switch kind {
	case FluxKustomization:
		r.kustomization(o, &p)
	case FluxHelmRelease:
		spec, v := o.Root.Get("spec"), &view{made: &r.written}
		p.flux(v, spec)
		c := &Chart{Release: v.text(spec.Get("releaseName")), Namespace: cmp.Or(p.Destination.Namespace, o.Namespace)}
		c.Release = cmp.Or(c.Release, strings.TrimPrefix(p.Destination.Namespace+"-"+o.Name, "-"))
		if most, hash := 53, 12; len(c.Release) > most { // Flux shortens it in the same way
			c.Release = c.Release[:most-hash-1] + "-" + fmt.Sprintf("%x", sha256.Sum256([]byte(c.Release)))[:hash]
		}
		s := Source{Chart: c, Namespace: c.Namespace}
		r.releaseChart(v, o, &s)
		refs := spec.Get("valuesFrom").Items()
		if len(refs) > limits.References {
			s.Why = Reason{What: WhyTooMany, Detail: fmt.Sprintf("the release takes values from %d objects, more than the limit of %d", len(refs), limits.References), Refused: true}
			refs = nil
		}
		for _, ref := range refs {
			c.From = append(c.From, Reference{
				Kind: ref.Get("kind").Text(), Namespace: o.Namespace, Name: v.text(ref.Get("name")), Optional: truth(ref.Get("optional")),
				Key: cmp.Or(v.text(ref.Get("valuesKey")), "values.yaml"), Target: v.text(ref.Get("targetPath")), Literal: truth(ref.Get("literal")),
			})
		}
		c.Values = textOf(v, o.File.Name, spec.Get("values"))
		if !s.Why.Some() && v.open {
			s.Why = Reason{What: WhyVariable, Detail: "the chart, the name or a reference holds a variable"}
		}
		postRenderers(spec.Get("postRenderers"), &s)
		p.Sources = []Source{s}
	case Application:
		r.application(&view{made: &r.written}, o.Root.Get("spec"), &p)
	case ApplicationSet:
		return r.set(o, p)
	}
	return []*Pointer{&p}
}

// Naming says that a pointer or an ArtifactGenerator in File takes the directory Path from a
// repository. File is relative to the root of the repository that contains it, and Path to the root
// of the named one. Path is "" if it is not a plain path.
type Naming struct {
	Repository Repository
	Path, File string
}

// Namings returns the repositories that a pointer or an ArtifactGenerator names. An OCI repository
// counts, because it may hold a copy of a directory of a Git repository.
func Namings(o *source.Object) (all []Naming) {
	kind, _ := KindOf(o.Group(), o.Kind)
	spec := o.Root.Get("spec")
	add := func(r Repository, path string) {
		name, ok := within(strings.TrimLeft(path, "/"))
		if !ok || source.IsVariable(path) {
			name = ""
		}
		all = append(all, Naming{r, name, o.File.Name})
	}
	flux := func(ref *source.Node, path string) {
		if r := sourceRef(&view{}, ref, o.Namespace); r.Kind == gitRepository || r.Kind == ociRepository {
			add(r, path)
		}
	}
	argo := func(n *source.Node) {
		if url := n.Get("repoURL"); url.Text() != "" && n.Get("chart").IsNull() && !source.IsVariable(url.Value) {
			add(Repository{URL: url.Text()}, n.Get("path").Text())
		}
	}
	var git func(generators *source.Node)
	git = func(generators *source.Node) {
		for _, g := range generators.Items() {
			argo(g.Get("git"))
			git(g.At("matrix", "generators"))
			git(g.At("merge", "generators"))
		}
	}
	switch kind {
	case FluxKustomization:
		flux(spec.Get("sourceRef"), spec.Get("path").Text())
	case FluxHelmRelease:
		flux(spec.At("chart", "spec", "sourceRef"), spec.At("chart", "spec", "chart").Text())
	case ApplicationSet:
		git(spec.Get("generators"))
		spec = spec.At("template", "spec")
		fallthrough
	case Application:
		for _, n := range append([]*source.Node{spec.Get("source")}, spec.Get("sources").Items()...) {
			argo(n)
		}
	default:
		if o.Kind != artifactGenerator {
			break
		}
		aliases := map[string]*source.Node{}
		for _, ref := range spec.Get("sources").Items() {
			aliases[ref.Get("alias").Text()] = ref
		}
		for _, artifact := range spec.Get("artifacts").Items() {
			for _, one := range artifact.Get("copy").Items() {
				alias, from, _ := strings.Cut(one.Get("from").Text(), "/")
				for strings.ContainsAny(from, "*?[]{}") || from != "" && !strings.HasSuffix(from, "/") { // leave the directory
					from = path.Dir(strings.TrimSuffix(from, "/")) + "/"
				}
				flux(aliases[strings.TrimPrefix(alias, "@")], from)
			}
		}
	}
	return all
}
