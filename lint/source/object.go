package source

import (
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Object is one Kubernetes object. Lists are flattened into their items.
type Object struct {
	File *File
	// Root is the object. For kinds that Options.Keep declines it contains only apiVersion, kind
	// and metadata.
	Root                              *Node
	APIVersion, Kind, Namespace, Name string
	// Hook is set for hooks of the deploying tool and for all tests of a chart.
	Hook Hook
	// NamespaceAssumed is set if a chart puts the object into the namespace of its release and that
	// namespace is not known.
	NamespaceAssumed bool

	// text is the text that the object can be read from again, or nil.
	text *foldable
	// size is the result of Size once the tree is folded, and 0 before.
	size int
}

// Group returns the API group, "" for the core group.
func (o *Object) Group() string {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// ID returns the object as diagnostics name it.
func (o *Object) ID() diag.Object {
	return diag.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Size returns the approximate number of bytes of the object in a file. The contents of an anchor
// count once.
func (o *Object) Size() int {
	if o.size > 0 {
		return o.size
	}
	var seen map[*Node]bool
	return o.Root.size(&seen)
}

func (n *Node) size(seen *map[*Node]bool) int {
	if n == nil {
		return 0
	}
	if n.Shared {
		if (*seen)[n] {
			return 0
		}
		if *seen == nil {
			*seen = map[*Node]bool{}
		}
		(*seen)[n] = true
	}
	size := len(n.Value) + 4 // a separator, and indentation or quotes
	for _, c := range n.content() {
		size += c.size(seen)
	}
	return size
}

// NameSpan returns the place of metadata.name, or of kind if there is no name.
func (o *Object) NameSpan() diag.Span {
	for _, at := range []*Node{o.Root.Get("metadata"), o.Root} {
		for _, field := range []string{"name", "generateName", "kind"} {
			if k, v := at.Field(field); k != nil {
				return o.File.FieldSpan(k, v)
			}
		}
	}
	return o.File.Span(o.Root)
}

func newObject(f *File, n *Node, apiVersion, kind string) *Object {
	meta := n.Get("metadata")
	name := meta.Get("name")
	o := &Object{File: f, Root: n, APIVersion: apiVersion, Kind: kind, Namespace: scalarValue(meta.Get("namespace")), Name: scalarValue(name)}
	if o.Name == "" {
		o.Name = scalarValue(meta.Get("generateName"))
	}
	if isTest(meta.Get("annotations")) {
		o.Hook = HookNever
	}
	return o
}

func scalarValue(n *Node) string {
	if n.IsNull() || n.Kind != Scalar {
		return ""
	}
	return n.Value
}

// flatten flattens Lists, including nested ones. Items of a typed list that lack both kind and
// apiVersion inherit them (apimachinery unstructured, decodeToList; R-K5). It returns false as soon
// as emit does.
func flatten(f *File, n *Node, apiVersion, kind string, emit func(*Object) bool) bool {
	items := n.Get("items")
	if !strings.HasSuffix(kind, "List") || items == nil || items.Kind != Sequence {
		return emit(newObject(f, n, apiVersion, kind))
	}
	for _, item := range items.Items() {
		v, k := scalarValue(item.Get("apiVersion")), scalarValue(item.Get("kind"))
		if v == "" && k == "" && kind != "List" {
			v, k = apiVersion, strings.TrimSuffix(kind, "List")
		}
		if !flatten(f, item, v, k, emit) {
			return false
		}
	}
	return true
}

// Hook is set for an object that a tool creates at a certain step of a deployment rather than with
// the other objects; it is "" for ordinary objects.
type Hook string

const (
	// HookStep is an object that is created at some step, such as before an upgrade.
	HookStep Hook = "step"
	// HookNever is an object that no deployment creates: a test, or a hook that the tool skips. It
	// exists only while someone runs it by hand.
	HookNever Hook = "never"
)

// Annotations that make an object a hook.
const (
	helmHook = "helm.sh/hook"
	argoHook = "argocd.argoproj.io/hook"
)

// helmSteps maps the steps of Helm's hooks to whether a deployment creates them (helm:
// pkg/releaseutil/ manifest_sorter.go). Tests run only on request; Helm skips a hook with any other
// step.
var helmSteps = map[string]bool{
	"pre-install": true, "post-install": true, "pre-upgrade": true, "post-upgrade": true,
	"pre-rollback": true, "post-rollback": true, "pre-delete": true, "post-delete": true,
	"test": false, "test-success": false,
}

// isTest reports whether the annotations make an object a hook of Helm only for tests, whatever
// printed it. Argo CD's own hooks take precedence, as in ArgoHook. Helm 2 had test-success and
// test-failure (helm: pkg/hooks/hooks.go, v2.17).
func isTest(annotations *Node) bool {
	events := annotations.Get(helmHook)
	if events == nil || annotations.Get(argoHook) != nil {
		return false
	}
	for event := range strings.SplitSeq(events.Text(), ",") {
		switch strings.ToLower(strings.TrimSpace(event)) {
		case "test", "test-success", "test-failure":
		default:
			return false
		}
	}
	return true
}

// HelmHook returns the kind of hook that an object of a chart is for Helm.
func HelmHook(o *Object) Hook {
	times := o.Root.At("metadata", "annotations", helmHook)
	if times == nil {
		return ""
	}
	hook := HookNever
	for time := range strings.SplitSeq(times.Text(), ",") {
		step, known := helmSteps[strings.ToLower(strings.TrimSpace(time))]
		switch {
		case !known:
			return HookNever
		case step:
			hook = HookStep
		}
	}
	return hook
}

// ArgoHook returns the kind of hook that an object of an Application is for Argo CD, which also
// supports Helm's hooks on objects without its own.
func ArgoHook(o *Object) Hook {
	steps := o.Root.At("metadata", "annotations", argoHook)
	if steps == nil {
		return HelmHook(o)
	}
	for step := range strings.SplitSeq(steps.Text(), ",") {
		if strings.TrimSpace(step) == "Skip" {
			return HookNever
		}
	}
	return HookStep
}
