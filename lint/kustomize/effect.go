package kustomize

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// effect describes what a part of a kustomization may change in the objects that it selects.
type effect struct {
	selects func(o *source.Object, renamed bool) bool
	// paths lists the changed fields; whole is set if any field may change. Labels lists the keys
	// of labels that pods and selectors get.
	paths  [][]string
	whole  bool
	labels []string
	// namespace is set if the namespace changes.
	namespace bool
}

func everything(*source.Object, bool) bool { return true }

// wholesale lists fields that may change anything in any object.
var wholesale = []string{"components", "transformers", "replacements", "configurations", "vars"}

// effects returns the effects of one kustomization.
func (t *tree) effects(k *kustomization) []effect {
	var all []effect
	for _, field := range wholesale {
		if k.root.Get(field).Len() > 0 {
			all = append(all, effect{selects: everything, whole: true})
		}
	}
	for _, field := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		for _, item := range k.root.Get(field).Items() {
			all = append(all, t.patch(k, item)...)
		}
	}
	for _, item := range k.root.Get("replicas").Items() {
		name := item.Get("name").Text()
		all = append(all, effect{paths: [][]string{{"spec", "replicas"}}, selects: func(o *source.Object, renamed bool) bool {
			return renamed || o.Name == name
		}})
	}
	if k.root.Get("namespace").Text() != "" {
		all = append(all, effect{selects: everything, namespace: true})
	}
	var keys []string // of labels of pods or selectors
	add := func(pairs *source.Node) {
		for key := range pairs.Fields() {
			keys = append(keys, key.Value)
		}
	}
	add(k.root.Get("commonLabels"))
	for _, item := range k.root.Get("labels").Items() {
		selectors, _ := item.Get("includeSelectors").Bool()
		templates, _ := item.Get("includeTemplates").Bool()
		if selectors || templates || item.Get("fields").Len() > 0 {
			add(item.Get("pairs"))
		}
	}
	if len(keys) > 0 {
		slices.Sort(keys)
		all = append(all, effect{selects: everything, labels: slices.Compact(keys)})
	}
	return all
}

// patch reads an entry of a kustomization: a path or a text, alone or in a map that may have a
// target.
func (t *tree) patch(k *kustomization, item *source.Node) []effect {
	name, text, target := item.Get("path").Text(), item.Get("patch").Text(), item.Get("target")
	if item.Kind == source.Scalar {
		name, text = item.Text(), ""
		if strings.Contains(name, "\n") {
			name, text = "", name
		}
	}
	var roots []*source.Node
	if file := t.files[path.Join(k.dir, name)]; name != "" && file != nil {
		roots = file.Roots()
	} else if name == "" && text != "" {
		roots = (&source.File{Text: []byte(text)}).Roots()
	}
	if len(roots) == 0 { // the patch cannot be read
		return []effect{{selects: selected(target, nil), whole: true}}
	}
	var all []effect
	for _, root := range roots {
		e := effect{selects: selected(target, root)}
		if root.Kind == source.Sequence {
			e.operations(root)
		} else {
			e.merge(root, nil)
		}
		all = append(all, e)
	}
	return all
}

// selected returns a function that reports whether a patch applies to an object: one that its
// target describes, or else the one that it names. Label selectors are assumed to match.
func selected(target, patch *source.Node) func(*source.Object, bool) bool {
	if target == nil && patch == nil {
		return everything
	}
	if target == nil {
		kind, name := patch.Get("kind").Text(), patch.At("metadata", "name").Text()
		return func(o *source.Object, renamed bool) bool {
			return (kind == "" || o.Kind == kind) && (renamed || name == "" || o.Name == name)
		}
	}
	return func(o *source.Object, renamed bool) bool {
		return matches(target.Get("kind"), o.Kind) && matches(target.Get("group"), o.Group()) && (renamed || matches(target.Get("name"), o.Name))
	}
}

// maxPattern bounds the patterns of targets.
const maxPattern = 1000

// matches applies a pattern of a target, which is anchored (kustomize: api/types/selector.go). An
// invalid pattern is assumed to match.
func matches(pattern *source.Node, value string) bool {
	text := pattern.Text()
	if text == "" || text == value || len(text) > maxPattern {
		return true
	}
	re, err := regexp.Compile("^(?:" + text + ")$")
	return err != nil || re.MatchString(value)
}

// merge adds the leaves of a strategic-merge patch below a path.
func (e *effect) merge(n *source.Node, at []string) {
	for k, v := range n.Fields() {
		field := append(slices.Clip(at), k.Value)
		switch {
		case strings.HasPrefix(k.Value, "$"): // a directive about the map that holds it
			e.add(at)
		case len(at) == 0 && (k.Value == "apiVersion" || k.Value == "kind"), len(at) == 1 && at[0] == "metadata" && k.Value != "labels":
		case v.Kind == source.Map && v.Len() > 0:
			e.merge(v, field)
		case containers[k.Value] && v.Kind == source.Sequence && !resizes(v):
		default:
			e.add(field)
		}
	}
}

// resizes reports whether a patch of containers writes a field that is judged.
func resizes(list *source.Node) bool {
	for _, item := range list.Items() {
		for k := range item.Fields() {
			if k.Value != "name" && !irrelevant[k.Value] {
				return true
			}
		}
	}
	return false
}

// operations adds the pointers of a JSON patch.
func (e *effect) operations(list *source.Node) {
	for _, op := range list.Items() {
		for _, member := range []string{"path", "from"} {
			_, pointer := op.Field(member)
			if pointer == nil || op.Get("op").Text() == "test" {
				continue
			}
			var at []string
			for _, step := range strings.Split(pointer.Text(), "/")[1:] {
				at = append(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
			}
			e.add(at)
		}
	}
}

// add adds a path. It skips paths with fields that are not judged.
func (e *effect) add(at []string) {
	if len(at) == 0 {
		e.whole = true
		return
	}
	if slices.ContainsFunc(at, func(field string) bool { return irrelevant[field] }) {
		return
	}
	e.paths = append(e.paths, at)
}

// irrelevant lists fields below which nothing is judged.
var irrelevant = map[string]bool{
	"annotations": true, "args": true, "automountServiceAccountToken": true, "command": true, "data": true, "dnsConfig": true, "dnsPolicy": true, "env": true,
	"envFrom": true, "hostAliases": true, "image": true, "imagePullPolicy": true, "imagePullSecrets": true, "lifecycle": true, "livenessProbe": true,
	"readinessProbe": true, "securityContext": true, "serviceAccount": true, "serviceAccountName": true, "startupProbe": true, "stringData": true,
	"terminationGracePeriodSeconds": true, "volumeMounts": true, "volumes": true,
}

// kustomization is the kustomization of a directory.
type kustomization struct {
	dir  string
	root *source.Node
	// below lists the files and directories that it names, from the root.
	below []string
	// renames is set if it changes names, so that patches further out may use names that no file
	// has.
	renames bool
}

// tree holds the kustomizations of everything that was read, by directory.
type tree struct {
	files map[string]*source.File
	dirs  map[string]*kustomization
	steps int
}

// maxSteps bounds how far references between kustomizations are followed: the number of paths
// through a few directories can be exponential.
const maxSteps = 200_000

func newTree(set *source.Set) *tree {
	t := &tree{files: map[string]*source.File{}, dirs: map[string]*kustomization{}}
	isKustomization := func(f *source.File) bool { return source.IsKustomizationFile(path.Base(f.Name)) }
	if !slices.ContainsFunc(set.Files, isKustomization) {
		return t
	}
	for _, f := range set.Files {
		t.files[f.Name] = f
	}
	for _, f := range set.Files {
		if !isKustomization(f) {
			continue
		}
		for _, root := range f.Roots() {
			if kind := root.Get("kind").Text(); root.Kind == source.Map && (kind == "" || kind == "Kustomization" || kind == "Component") {
				k := &kustomization{dir: path.Dir(f.Name), root: root, renames: root.Get("namePrefix") != nil || root.Get("nameSuffix") != nil}
				for _, field := range []string{"resources", "bases", "components"} {
					for _, item := range root.Get(field).Items() {
						if item.Text() != "" {
							k.below = append(k.below, path.Join(k.dir, item.Text()))
						}
					}
				}
				t.dirs[k.dir] = k
			}
		}
	}
	return t
}

// reach visits the files that a kustomization reaches, each once, and says whether their names may
// have changed by then. It returns false if there are too many to follow.
func (t *tree) reach(k *kustomization, visit func(file string, renamed bool)) bool {
	seen := map[string]bool{}
	var in func(k *kustomization, renamed bool) bool
	in = func(k *kustomization, renamed bool) bool {
		for _, name := range k.below {
			if t.steps++; t.steps > maxSteps {
				return false
			}
			if seen[name] {
				continue
			}
			seen[name] = true
			if next := t.dirs[name]; next != nil {
				if !in(next, renamed || next.renames) {
					return false
				}
			} else if t.files[name] != nil {
				visit(name, renamed)
			}
		}
		return true
	}
	return in(k, false)
}

// sorted returns the kustomizations by directory.
func (t *tree) sorted() []*kustomization {
	return slices.SortedFunc(maps.Values(t.dirs), func(a, b *kustomization) int { return strings.Compare(a.dir, b.dir) })
}
