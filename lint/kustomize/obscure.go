package kustomize

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// Result holds the known content of objects. It does not contain the fields that a kustomization
// may change.
type Result struct {
	Objects []*source.Object
	// Whole holds the objects whose fields may all change. They are not in Objects.
	Whole []*source.Object
	// Changed holds the objects in Objects that have unknown fields.
	Changed []*source.Object
}

// Obscure replaces the fields that kustomizations may change with variables. The function declares
// reports whether an object counts as a declaration. If an object no longer counts as one after the
// replacement, Obscure adds it to Whole.
func Obscure(set *source.Set, declares func(*source.Object) bool) Result {
	t := newTree(set)
	if len(t.dirs) == 0 {
		return Result{Objects: set.Objects}
	}
	by := t.byFile()
	var r Result
	for _, o := range set.Objects {
		c := change{object: o}
		for _, e := range by[o.File.Name] {
			if e.selects(o, e.renamed) {
				// The selectors of other objects depend on the labels of pods. An effect that may change all labels of a pod
				// may therefore change any field.
				c.whole = c.whole || e.effect.whole
				c.namespace = c.namespace || e.effect.namespace
				for _, at := range e.effect.paths {
					switch n := len(at); {
					case n < 2 || at[n-2] != "metadata" || at[n-1] != "labels":
						c.paths = append(c.paths, at)
					case n > 2 || c.object.Kind == "Pod":
						c.whole = true
					}
				}
				c.labels = append(c.labels, e.effect.labels...)
			}
		}
		if !c.whole && len(c.paths)+len(c.labels) == 0 && !c.namespace {
			r.Objects = append(r.Objects, o)
			continue
		}
		if known := c.apply(); c.whole || declares(o) && !declares(known) {
			r.Whole = append(r.Whole, o)
		} else {
			r.Objects = append(r.Objects, known)
			r.Changed = append(r.Changed, known)
		}
	}
	return r
}

// applied is an effect on the objects of a file. renamed is set if these objects may have been
// renamed before the effect applies.
type applied struct {
	effect
	renamed bool
}

// byFile returns the effects on each file. If there are too many references, it assumes that any
// field in any file may change.
func (t *tree) byFile() map[string][]applied {
	by := map[string][]applied{}
	for _, dir := range sorting.Keys(t.dirs) {
		k := t.dirs[dir]
		effects := t.effects(k)
		if len(effects) == 0 {
			continue
		}
		if !t.reach(k, func(file string, renamed bool) {
			for _, e := range effects {
				by[file] = append(by[file], applied{e, renamed || k.renames})
			}
		}) {
			for name := range t.files {
				by[name] = append(by[name], applied{effect: effect{selects: everything, whole: true}})
			}
			return by
		}
	}
	return by
}

// change collects the changes that kustomizations make to one object.
type change struct {
	object    *source.Object
	whole     bool
	namespace bool
	paths     [][]string
	labels    []string
}

// apply returns a copy of the object with variables for the fields that change.
func (c *change) apply() *source.Object {
	o := *c.object
	for _, at := range c.paths {
		o.Root = c.hidePath(o.Root, at, false)
	}
	if c.labels = slices.Compact(slices.Sorted(slices.Values(c.labels))); len(c.labels) > 0 {
		add := func(m *source.Node) *source.Node {
			for _, key := range c.labels {
				if _, v := m.Field(key); v != nil {
					m = m.Replace(key, v.Variable())
				} else {
					m = m.With(key, c.name().Variable(), c.name())
				}
			}
			return m
		}
		o.Root = rewritten(o.Root, func(m *source.Node, name string, v *source.Node) *source.Node {
			switch {
			case v == nil || v.Kind != source.Map:
			case name == "labels" || name == "matchLabels":
				return add(v)
			case name == "labelSelector" && v.Get("matchLabels") == nil:
				return v.With("matchLabels", add(v.Emptied()), c.name())
			}
			return v
		})
	}
	if c.namespace {
		o.Root = rewritten(o.Root, func(_ *source.Node, name string, v *source.Node) *source.Node {
			if name == "namespaces" && v.Kind == source.Sequence { // a list of namespaces in a term
				return v.Variable()
			}
			return v
		})
	}
	return &o
}

// name returns the key node of the object's name. It is used as the location of fields that are in
// no file.
func (c *change) name() *source.Node {
	k, _ := c.object.Root.Get("metadata").Field("name")
	return k
}

// hidePath returns a copy of a map with a variable at a path. If anyName is set, the keys of the
// map are arbitrary.
func (c *change) hidePath(n *source.Node, at []string, anyName bool) *source.Node {
	name, rest := at[0], at[1:]
	_, v := n.Field(name)
	switch {
	case v == nil && !anyName && !judged[name]:
		return n
	case v == nil:
		return n.With(name, c.name().Variable(), c.name())
	case v.Kind == source.Sequence && containers[name]:
		return n.Replace(name, c.hideResources(v))
	case v.Kind == source.Map && len(rest) > 0:
		return n.Replace(name, c.hidePath(v, rest, named[name]))
	}
	return n.Replace(name, v.Variable())
}

// hideResources returns a copy of a list of containers. The resources of one container are unknown.
func (c *change) hideResources(list *source.Node) *source.Node {
	for i, item := range list.Items() {
		if item.Kind != source.Map {
			continue
		}
		if _, v := item.Field("resources"); v != nil {
			return list.Among(i, item.Replace("resources", v.Variable()))
		}
		return list.Among(i, item.With("resources", c.name().Variable(), c.name()))
	}
	return list.Variable()
}

// rewritten returns a copy of n. Each map field, at any depth, is replaced with the result of
// visit.
func rewritten(n *source.Node, visit func(m *source.Node, name string, v *source.Node) *source.Node) *source.Node {
	out := n
	for k, v := range n.Fields() {
		if next := visit(n, k.Value, rewritten(v, visit)); next != v {
			out = out.Replace(k.Value, next)
		}
	}
	for i, item := range n.Items() {
		if next := rewritten(item, visit); next != item {
			out = out.Among(i, next)
		}
	}
	return out
}

// containers names the lists whose items kustomize merges by name.
var containers = map[string]bool{"containers": true, "initContainers": true}

// named lists the map fields whose keys are arbitrary.
var named = map[string]bool{"labels": true, "limits": true, "matchLabels": true, "nodeSelector": true, "requests": true}

// judged lists the fields that rules read and that a patch may add.
var judged = func() map[string]bool {
	m := map[string]bool{}
	for field := range strings.FieldsSeq(`affinity completionMode completions containers domain evictionStrategy hostNetwork initContainers jobTemplate labels
		labelSelector limits matchExpressions matchLabels matchLabelKeys maxReplicaCount maxReplicas maxSurge maxUnavailable metadata minAvailable
		minReadySeconds minReplicaCount minReplicas nodeAffinity nodeName nodeSelector ordinals overhead parallelism partition paused podAffinity
		podAntiAffinity podManagementPolicy ports preferredDuringSchedulingIgnoredDuringExecution priorityClassName replicas
		requests requiredDuringSchedulingIgnoredDuringExecution resources restartPolicy rollingUpdate running runStrategy runtimeClassName
		scaleTargetRef schedulerName schedulingGates selector spec strategy suspend template tolerations topologySpreadConstraints
		type unhealthyPodEvictionPolicy updateStrategy`) {
		m[field] = true
	}
	return m
}()

// effect describes the changes that one part of a kustomization may make to the selected objects.
type effect struct {
	selects func(o *source.Object, renamed bool) bool
	// paths lists the changed fields. whole is set if any field may change. labels lists the keys
	// of labels that are added to pods and selectors.
	paths  [][]string
	whole  bool
	labels []string
	// namespace is set if the namespace changes.
	namespace bool
}

func everything(*source.Object, bool) bool { return true }

// wholesale names the kustomization fields that may change anything in any object.
var wholesale = []string{"components", "transformers", "replacements", "configurations", "vars"}

// effects returns the effects of one kustomization on the objects that it reaches.
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
	var keys []string // label keys of pods or selectors
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

// patch returns the effects of one patch entry. The entry is the path or the text of a patch. It
// may also be a map with a path or text and an optional target.
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
			for _, op := range root.Items() {
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
		} else {
			e.merge(root, nil)
		}
		all = append(all, e)
	}
	return all
}

// selected returns a function that reports whether a patch applies to an object. The object must
// match the target. If there is no target, it must match the kind and name in the patch. Label
// selectors in targets are assumed to match.
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

// maxPattern is the maximum length of a target pattern that is evaluated.
const maxPattern = 1000

// matches reports whether a target pattern matches a whole value, as in kustomize
// (api/types/selector.go). An invalid pattern is assumed to match.
func matches(pattern *source.Node, value string) bool {
	text := pattern.Text()
	if text == "" || text == value || len(text) > maxPattern {
		return true
	}
	re, err := regexp.Compile("^(?:" + text + ")$")
	return err != nil || re.MatchString(value)
}

// merge adds the path of each leaf of a strategic-merge patch. at is the path of n.
func (e *effect) merge(n *source.Node, at []string) {
	for k, v := range n.Fields() {
		field := append(slices.Clip(at), k.Value)
		switch {
		case strings.HasPrefix(k.Value, "$"): // a directive about the enclosing map
			e.add(at)
		case len(at) == 0 && (k.Value == "apiVersion" || k.Value == "kind"), len(at) == 1 && at[0] == "metadata" && k.Value != "labels":
		case v.Kind == source.Map && v.Len() > 0:
			e.merge(v, field)
		case containers[k.Value] && v.Kind == source.Sequence && !slices.ContainsFunc(v.Items(), resizes):
		default:
			e.add(field)
		}
	}
}

// resizes reports whether the patch for a container changes a field that rules read.
func resizes(container *source.Node) bool {
	for k := range container.Fields() {
		if k.Value != "name" && !irrelevant[k.Value] {
			return true
		}
	}
	return false
}

// add adds a path, unless no rule reads the field.
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

// irrelevant names the fields that no rule reads, including all fields below them.
var irrelevant = map[string]bool{
	"annotations": true, "args": true, "automountServiceAccountToken": true, "command": true, "data": true, "dnsConfig": true, "dnsPolicy": true, "env": true,
	"envFrom": true, "hostAliases": true, "image": true, "imagePullPolicy": true, "imagePullSecrets": true, "lifecycle": true, "livenessProbe": true,
	"readinessProbe": true, "securityContext": true, "serviceAccount": true, "serviceAccountName": true, "startupProbe": true, "stringData": true,
	"terminationGracePeriodSeconds": true, "volumeMounts": true, "volumes": true,
}

// kustomization is the parsed kustomization file of a directory.
type kustomization struct {
	dir  string
	root *source.Node
	// below lists the files and directories that the kustomization refers to, relative to the root
	// of the tree.
	below []string
	// renames is set if the kustomization changes names. Patches in kustomizations that refer to it
	// may then use names that are in no file.
	renames bool
}

// tree holds all kustomizations that were read, by directory.
type tree struct {
	files map[string]*source.File
	dirs  map[string]*kustomization
	steps int
}

// maxSteps is the maximum number of references that are followed between kustomizations. Even a few
// directories can have exponentially many paths between them.
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

// reach calls visit once for each file that the kustomization k reaches. renamed is set if a
// kustomization between k and the file may have changed names in the file. reach returns false if
// there are too many references.
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
