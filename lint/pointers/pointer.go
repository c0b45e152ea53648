package pointers

import (
	"path"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Kind is the name of a kind of pointer, including that of its controller, for example Flux
// Kustomization.
type Kind string

// Values of Kind.
const (
	FluxKustomization Kind = "Flux Kustomization"
	FluxHelmRelease   Kind = "Flux HelmRelease"
	Application       Kind = "Argo CD Application"
	ApplicationSet    Kind = "Argo CD ApplicationSet"
)

// KindOf returns the pointer kind of objects of a group and kind, in any API version. ok is false if
// the objects are not pointers.
func KindOf(group, kind string) (of Kind, ok bool) {
	of, ok = map[[2]string]Kind{
		{"kustomize.toolkit.fluxcd.io", "Kustomization"}: FluxKustomization,
		{"helm.toolkit.fluxcd.io", "HelmRelease"}:        FluxHelmRelease,
		{"argoproj.io", "Application"}:                   Application,
		{"argoproj.io", "ApplicationSet"}:                ApplicationSet,
	}[[2]string{group, kind}]
	return of, ok
}

// Pointer is an object that names what a controller deploys.
type Pointer struct {
	Kind            Kind
	Namespace, Name string
	// Written is the name of the object. It differs from Name for a pointer that an ApplicationSet
	// generates.
	Written string
	// File, Line and Column are the place of the pointer. Object is the line of its object's name.
	// The two differ for a pointer that an ApplicationSet generates from a list item.
	File         string
	Line, Column int
	Object       int
	// Suspended is set if the controller currently ignores the pointer.
	Suspended bool
	// Destination is the cluster and namespace that the pointer deploys to.
	Destination Destination
	// Sources are deployed together but rendered separately.
	Sources []Source
	// Substitution holds the variables that the controller substitutes in the result, or nil.
	Substitution *Substitution
	// Why is the reason why the pointer cannot be followed, or zero.
	Why Reason

	file *source.File
}

// Destination is a cluster and a namespace. Name or Server identifies the cluster. Both are empty
// for the cluster that Flux itself runs in.
type Destination struct{ Name, Server, Namespace string }

// Reason says why something is not rendered. A zero Reason means that nothing prevents rendering.
type Reason struct {
	// What is one of the constants below, so that reasons can be counted. Detail describes the
	// individual case.
	What, Detail string
	// Refused is set if the reason is a mistake or an attack, which must be reported.
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
	// Path is the path of the directory from the root of the repository.
	Path string
	// Revision is the branch, tag or commit that an Application asks for.
	Revision string
	// Form says how the directory is turned into objects.
	Form Form
	// Files selects the files if Form is Directory.
	Files Files
	// Chart holds the chart settings, or nil if the source is not a chart.
	Chart *Chart
	// Ref is the name by which other sources of the pointer refer to the files of this source.
	Ref string
	// Fields holds the fields that the pointer adds to the kustomization, as JSON, or nil. Patches
	// holds the line at which each inline patch in Fields begins, or 0.
	Fields  []byte
	Patches []int
	// Counts holds the replica counts in Fields, by object name.
	Counts map[string]Value
	// Labels are set on every object. Namespace applies to objects that have no namespace.
	Labels    map[string]string
	Namespace string
	// Why is the reason why the source cannot be rendered, or zero.
	Why Reason
}

// Address returns the address of a chart in a chart repository.
func (s *Source) Address() string {
	return strings.TrimSuffix(strings.TrimRight(s.Repository.URL, "/")+"/"+s.Chart.Name, "/")
}

// Form is a way to turn a directory into objects.
type Form int

// Values of Form. Generated means a kustomization which, as in Flux, is generated from all files if
// the directory has none. Detected means a chart, a kustomization or a plain directory, whichever
// Argo CD finds.
const (
	Generated Form = iota
	Detected
	Kustomized
	Directory
)

// Files selects files of a directory with globs. Recurse includes subdirectories.
type Files struct {
	Recurse          bool
	Include, Exclude string
}

// Repository identifies a repository by its address or, in Flux, by an object that contains the
// address.
type Repository struct {
	URL                   string
	Kind, Namespace, Name string
}

// Chart holds the settings that a pointer has for a chart.
type Chart struct {
	// Remote is set for a chart that is in a chart repository, where its name is Name, or that only
	// a Flux object identifies. Otherwise the Path of the source is the directory of the chart.
	Remote bool
	Name   string
	// Version is a version or a version range, or empty for any version.
	Version string
	// Release and Namespace are the name and namespace of the release.
	Release, Namespace string
	// KubeVersion and APIVersions are the capabilities that the cluster is assumed to have.
	KubeVersion string
	APIVersions []string
	// Files lists values files. With Replace, as in Flux, they replace the values file of the chart
	// and are relative to the root of the chart's repository. Otherwise, as in Argo CD, they are
	// applied after the chart's own values and are relative to the chart or, if they begin with
	// $ref, to another source. Missing is set if files that do not exist are skipped.
	Files            []string
	Replace, Missing bool
	// From lists objects that contain values. Values holds the values in the pointer, or nil.
	// Parameters holds single values. In this order, later values take precedence.
	From       []Reference
	Values     *Text
	Parameters []Parameter
}

// Parameter is a single value, as for --set.
type Parameter struct {
	Name string
	// Value is the value or, if File is set, the name of the file that contains it. String is set
	// if the value is a string even if it looks like a number or boolean.
	Value        string
	String, File bool
	// Where is the file in which the parameter is written. At is its place there, or nil if the
	// place is unknown.
	Where string
	At    *source.Node
}

// Reference refers to an object that contains values. If Target is empty, Key holds a values file.
// Otherwise it holds a single value for the path Target. Literal is set if that value is always a
// string.
type Reference struct {
	Kind, Namespace, Name string
	Optional              bool
	Key, Target           string
	Literal               bool
}

// Substitution holds the values of variables, and references to objects with more values.
type Substitution struct {
	Given map[string]Value
	From  []Reference
}

// Value is a string with the place where it was written.
type Value struct {
	Text         string
	File         string
	Line, Column int
}

// within returns a path in a pointer in cleaned form. ok is false if the path is outside the
// repository.
func within(text string) (name string, ok bool) {
	name = path.Clean(text)
	return name, worktree.Local(name) && !strings.ContainsAny(name, "\x00\\")
}

// Reader reads the pointers of one repository.
type Reader struct {
	Repositories *Repositories
	Tree         Tree

	applications int // number of generated Applications so far
	matches      int
	made         int // bytes of template output so far
	written      int // bytes of chart values so far
}

// Read returns the pointers that an object is or generates, or nil if the object is not a pointer.
// If the Applications of an ApplicationSet are unknown, it returns a pointer with a reason.
func (r *Reader) Read(o *source.Object) []*Pointer {
	kind, ok := KindOf(o.Group(), o.Kind)
	if !ok {
		return nil
	}
	at := o.NameSpan()
	p := Pointer{Kind: kind, Namespace: o.Namespace, Name: o.Name, Written: o.Name, File: o.File.Name, Line: max(at.Line, 1), Column: max(at.Column, 1), Object: max(at.Line, 1), file: o.File}
	if o.Root.Get("spec").Len() == 0 {
		p.Why = Reason{What: WhyMalformed, Detail: "has no spec"}
		return []*Pointer{&p}
	}
	switch kind {
	case FluxKustomization:
		kustomization(o, &p)
	case FluxHelmRelease:
		r.release(o, &p)
	case Application:
		r.application(&view{made: &r.written}, o.Root.Get("spec"), &p)
	case ApplicationSet:
		return r.set(o, p)
	}
	return []*Pointer{&p}
}

// URLs returns the addresses of the Git repositories that an Argo CD pointer names.
func URLs(o *source.Object) (all []string) {
	kind, _ := KindOf(o.Group(), o.Kind)
	spec := o.Root.Get("spec")
	var sources []*source.Node
	switch kind {
	case ApplicationSet:
		for _, g := range spec.Get("generators").Items() {
			sources = append(sources, g.Get("git"))
		}
		spec = spec.At("template", "spec")
	case Application:
	default:
		return nil
	}
	sources = append(append(sources, spec.Get("source")), spec.Get("sources").Items()...)
	for _, n := range sources {
		if url := n.Get("repoURL"); url.Text() != "" && n.Get("chart").IsNull() && !source.IsVariable(url.Value) {
			all = append(all, url.Text())
		}
	}
	return all
}
