package pointers

import (
	"path"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Kind is what people call a pointer, with its controller.
type Kind string

// The kinds.
const (
	FluxKustomization Kind = "Flux Kustomization"
	FluxHelmRelease   Kind = "Flux HelmRelease"
	Application       Kind = "Argo CD Application"
	ApplicationSet    Kind = "Argo CD ApplicationSet"
)

// KindOf is the kind of an object; ok is false if it is no pointer. All versions of a
// group count.
func KindOf(group, kind string) (of Kind, ok bool) {
	of, ok = map[[2]string]Kind{
		{"kustomize.toolkit.fluxcd.io", "Kustomization"}: FluxKustomization,
		{"helm.toolkit.fluxcd.io", "HelmRelease"}:        FluxHelmRelease,
		{"argoproj.io", "Application"}:                   Application,
		{"argoproj.io", "ApplicationSet"}:                ApplicationSet,
	}[[2]string{group, kind}]
	return of, ok
}

// Pointer names what a controller deploys.
type Pointer struct {
	Kind            Kind
	Namespace, Name string
	// Written is the name of its object, which an ApplicationSet does not give to what it
	// stands for.
	Written string
	// File, Line and Column are where it stands. Object is the line of the name of its
	// object: one of a list in an ApplicationSet stands elsewhere.
	File         string
	Line, Column int
	Object       int
	// Suspended is set if its controller leaves it alone.
	Suspended bool
	// Destination is where it deploys to.
	Destination Destination
	// Sources are what it deploys; several have to be rendered one by one.
	Sources []Source
	// Substitution is what stands for variables in the result; nil for none.
	Substitution *Substitution
	// Why is set if it leads nowhere.
	Why Reason

	file *source.File
}

// Destination is the cluster and the namespace of what is deployed. A cluster has a name
// or an address; Flux has neither for its own.
type Destination struct{ Name, Server, Namespace string }

// Reason says why something is not rendered; the zero Reason is none.
type Reason struct {
	// What is one of a few phrases to be counted, Detail what is wrong in this case.
	What, Detail string
	// Refused is set if it is a mistake or an attack, which is reported.
	Refused bool
}

// Some says that there is a reason.
func (r Reason) Some() bool { return r.What != "" }

// String is the reason in one line.
func (r Reason) String() string {
	if r.Detail == "" {
		return r.What
	}
	return r.What + ": " + r.Detail
}

// What keeps pointers from being rendered.
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

// Source is one thing that a pointer deploys.
type Source struct {
	Repository Repository
	// Path is the directory, from the root of the repository.
	Path string
	// Revision is the branch, tag or commit that an Application names.
	Revision string
	// Form says how the directory is read.
	Form Form
	// Files say which files of a Directory count.
	Files Files
	// Chart is set for a chart, of a directory or elsewhere.
	Chart *Chart
	// Ref is the name under which other sources refer to the files of this one.
	Ref string
	// Fields are those that are added to the kustomization, in JSON, or nil; Patches are
	// the lines at which their inline patches begin, or 0.
	Fields  []byte
	Patches []int
	// Counts are the numbers of replicas in Fields, by the names of their objects.
	Counts map[string]Value
	// Labels are set on every object; Namespace is that of objects without one.
	Labels    map[string]string
	Namespace string
	// Why is set if it leads nowhere.
	Why Reason
}

// Address is that of a chart of a repository of charts.
func (s *Source) Address() string {
	return strings.TrimSuffix(strings.TrimRight(s.Repository.URL, "/")+"/"+s.Chart.Name, "/")
}

// Form is how a directory becomes objects.
type Form int

// The forms. Generated is a kustomization, or one of all files if there is none, as Flux
// does it; Detected is a chart, a kustomization or a directory, as Argo CD does it.
const (
	Generated Form = iota
	Detected
	Kustomized
	Directory
)

// Files say which files of a directory count: below it as well, and which by globs.
type Files struct {
	Recurse          bool
	Include, Exclude string
}

// Repository is what a pointer names: an address, or for Flux an object that has it.
type Repository struct {
	URL                   string
	Kind, Namespace, Name string
}

// Chart is what a pointer says of a chart.
type Chart struct {
	// Remote is set for a chart of a repository of charts, which is called Name there, or that
	// an object of Flux alone leads to; else the directory is Path of the source.
	Remote bool
	Name   string
	// Version may be a range; "" is any.
	Version string
	// Release and Namespace are what it is installed as.
	Release, Namespace string
	// KubeVersion and APIVersions are what the cluster is taken to have.
	KubeVersion string
	APIVersions []string
	// Files are values files: they stand in place of those of the chart itself, from the root
	// of its repository, as Flux has it, or come after them, from the chart or, with $ref
	// first, from another source, as Argo CD has it. Missing leaves out those that are not
	// there.
	Files            []string
	Replace, Missing bool
	// From are objects that hold values, Values those in the pointer, nil for none, and
	// Parameters those after them.
	From       []Reference
	Values     *Text
	Parameters []Parameter
}

// Parameter is one value, as --set has it.
type Parameter struct {
	Name string
	// Value is what it is or, with File set, the file that holds it. String is set if it is
	// text whatever it says.
	Value        string
	String, File bool
	// Where is the file that At is in: its place, nil where that is not known.
	Where string
	At    *source.Node
}

// Reference is an object that holds values. Key is the one of them that is a values file,
// or with Target the value of that path; Literal takes it as text.
type Reference struct {
	Kind, Namespace, Name string
	Optional              bool
	Key, Target           string
	Literal               bool
}

// Substitution is what stands for variables.
type Substitution struct {
	Given map[string]Value
	From  []Reference
}

// Value is a text and where it was written.
type Value struct {
	Text         string
	File         string
	Line, Column int
}

// within is a path of a pointer as a name from the root; ok is false if it leads out.
func within(text string) (name string, ok bool) {
	name = path.Clean(text)
	return name, worktree.Local(name) && !strings.ContainsAny(name, "\x00\\")
}

// Reader reads pointers of one repository.
type Reader struct {
	Repositories *Repositories
	Tree         Tree

	applications int // of all sets so far
	matches      int
	made         int // bytes of templates
	written      int // bytes of values
}

// Read gives the pointers that an object is or stands for; nil if it is none. That of an
// ApplicationSet whose Applications are not known says why.
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

// URLs are the addresses of Git repositories that a pointer of Argo CD names.
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
