package kinds

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// Made describes pods that an operator makes of an object.
type Made struct {
	// Name is empty or is shown after the kind.
	Name string
	// N is the number of pods if Known is set. Key and Value are the field that sets it, or nil.
	N          int
	Known      bool
	Key, Value *source.Node
	// Template is a pod template. It has the object's own nodes, and nodes at its name for what the
	// operator adds.
	Template *source.Node
	// Mixed is set if the spec of the template may have fields that only the operator knows.
	Mixed bool
	// OpenTolerations is set if pods may have tolerations that are not in the template.
	OpenTolerations bool
}

// mostItems is the maximum length of a list whose items each make pods.
const mostItems = 100

// mostPods is the largest number of pods that is known. No controller makes more.
const mostPods = 1<<31 - 1

// Made returns the pods that the operator makes of an object. The list is empty if that is not known.
func (r *Row) Made(o *source.Object) []Made {
	root := at{root: o.Root, open: new(bool)}
	if root.any(r.Unless) {
		return nil
	}
	var all []Made
	for i := range r.Pods {
		p := &r.Pods[i]
		items := []*source.Node{nil}
		if p.Each != "" {
			list := root.get(p.Each)
			if items = list.Items(); len(items) > mostItems || list.Placeholder() || slices.ContainsFunc(items, (*source.Node).Placeholder) {
				return nil
			}
		}
		for _, item := range items {
			a := at{o.Root, item, root.open}
			if !a.all(p.When) {
				continue
			}
			m, ok := p.made(a)
			if !ok {
				return nil
			}
			all = append(all, m)
		}
	}
	if *root.open {
		return nil
	}
	names := map[string]bool{}
	for _, m := range all {
		if names[m.Name] || m.Name == "" && len(all) > 1 {
			return nil
		}
		names[m.Name] = true
	}
	return all
}

// made evaluates one entry of a row. ok is false if something in the object is open that the row needs.
func (p *Pods) made(a at) (m Made, ok bool) {
	if m.Name, ok = a.fill(p.Name); !ok {
		return m, false
	}
	m.N, m.Known, m.Key, m.Value = a.number(p.Replicas)
	if p.Shards != (Number{}) {
		n, known, _, _ := a.number(p.Shards)
		m.N *= max(1, n)
		m.Known = m.Known && known && m.N <= mostPods
	}
	m.OpenTolerations, m.Mixed = !p.Tolerations, p.Spec != ""
	name := a.root.At("metadata", "name")
	template := a.get(p.Template)
	spec := template.Get("spec")
	switch {
	case template != nil && template.Kind != source.Map && !template.IsNull():
		return m, false
	case p.Spec != "":
		spec = a.get(p.Spec)
	case p.Template == "":
		spec = a.spec(p.Fields, name)
	}
	spec = cmp.Or(spec, source.NewMap(name))
	if p.OwnRequests {
		spec = withoutLimits(spec)
	}
	labels := a.labels(p, template.At("metadata", "labels"), name)
	for _, t := range p.Terms {
		if !a.all(t.When) {
			continue
		}
		if spec, ok = a.withTerm(spec, &t, labels, name); !ok {
			return m, false
		}
	}
	for _, l := range p.NodeLabels {
		if _, key := a.field(l.Key); a.all(l.When) && !unset(key) && key.Kind == source.Scalar && !key.Placeholder() {
			spec = withNodeLabel(spec, key)
		}
	}
	m.Template = source.NewMap(name,
		source.NewText(name, "metadata"), source.NewMap(name, source.NewText(name, "labels"), labels),
		source.NewText(name, "spec"), spec)
	return m, true
}

// at is a place from which paths lead to fields: the root of an object, and an item of a list. open is set
// if a path leads through a value that is not a map, such as a variable. The fields below it are not known.
type at struct {
	root, item *source.Node
	open       *bool
}

func (a at) field(path string) (k, v *source.Node) {
	n := a.root
	if rest, below := strings.CutPrefix(path, "."); below {
		n, path = a.item, rest
	}
	path, last, bracket := strings.Cut(strings.TrimSuffix(path, "]"), "[")
	steps := strings.Split(path, ".")
	if bracket {
		steps = append(steps, last)
	}
	for _, step := range steps[:len(steps)-1] {
		if n = n.Get(step); !n.IsNull() && n.Kind != source.Map {
			*a.open = true
		}
	}
	return n.Field(steps[len(steps)-1])
}

func (a at) get(path string) *source.Node {
	_, v := a.field(path)
	return v
}

// unset reports whether a field is absent, null or an empty string, which operators do not tell apart.
func unset(n *source.Node) bool { return n.IsNull() || n.Kind == source.Scalar && n.Value == "" }

// is reports whether a field has one of the values.
func (a at) is(path string, values []string) bool {
	v := a.get(path)
	switch {
	case unset(v):
		return slices.Contains(values, "")
	case v.Kind != source.Scalar:
		return slices.Contains(values, "*")
	}
	return slices.Contains(values, v.Value) || slices.Contains(values, "*")
}

func (a at) any(of map[string][]string) bool {
	for path, values := range of {
		if a.is(path, values) || a.get(path).Placeholder() {
			return true
		}
	}
	return false
}

func (a at) all(of map[string][]string) bool {
	for path, values := range of {
		if !a.is(path, values) {
			return false
		}
	}
	return true
}

// fill replaces the paths in braces. ok is false if one of the fields has no text.
func (a at) fill(text string) (filled string, ok bool) {
	for {
		before, rest, found := strings.Cut(text, "{")
		if filled += before; !found {
			return filled, true
		}
		path, after, _ := strings.Cut(rest, "}")
		v := a.get(path)
		if v == nil || v.Kind != source.Scalar || v.Value == "" || v.Placeholder() {
			return "", false
		}
		filled, text = filled+v.Value, after
	}
}

func (a at) number(n Number) (value int, known bool, k, v *source.Node) {
	if n.Path != "" {
		k, v = a.field(n.Path)
	}
	switch i, ok := v.Int(); {
	case !v.IsNull() && (!ok || i < 0 || i > mostPods), v.IsNull() && n.Default == nil:
		return 0, false, k, v
	case v.IsNull():
		value, k, v = *n.Default, nil, nil
	default:
		value = int(i)
	}
	for _, bound := range []struct {
		path string
		pick func(a, b int) int
	}{{n.Least, func(a, b int) int { return max(a, b) }}, {n.Most, func(a, b int) int { return min(a, b) }}} {
		if bound.path == "" {
			continue
		}
		if to := a.get(bound.path); !to.IsNull() {
			i, ok := to.Int()
			if !ok {
				return 0, false, k, v
			}
			value = bound.pick(value, int(max(0, min(i, mostPods))))
		}
	}
	return value, true, k, v
}

// spec makes a pod spec of single fields.
func (a at) spec(fields map[string]string, name *source.Node) *source.Node {
	spec := source.NewMap(name)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		k, v := a.field(fields[field])
		if v.IsNull() {
			continue
		}
		steps := strings.Split(field, ".")
		if field == "resources" {
			main := source.NewMap(k, source.NewText(name, "name"), source.NewText(name, "main"), source.NewText(k, field), v)
			k, v, steps = source.NewText(k, "containers"), source.NewList(k, main), []string{"containers"}
		}
		spec = spec.WithField(steps, k, v)
	}
	return spec
}

// withoutLimits empties the limits of a pod spec, from which Kubernetes would take the requests.
func withoutLimits(spec *source.Node) *source.Node {
	empty := func(n *source.Node) *source.Node {
		if k, v := n.Get("resources").Field("limits"); v != nil {
			return n.WithField([]string{"resources", "limits"}, k, source.NewMap(k))
		}
		return n
	}
	for _, field := range []string{"containers", "initContainers"} {
		k, list := spec.Field(field)
		if list == nil || list.Kind != source.Sequence {
			continue
		}
		all := lists.Of(list.Items(), empty)
		spec = spec.WithField([]string{field}, k, source.NewList(list, all...))
	}
	return empty(spec)
}

// withTerm adds a required anti-affinity term to a pod spec.
func (a at) withTerm(spec *source.Node, t *Term, labels, name *source.Node) (*source.Node, bool) {
	key := source.NewText(name, t.Default)
	if _, v := a.field(t.Key); t.Key != "" && !unset(v) {
		key = v
	}
	selector := source.NewMap(name)
	if len(t.Match) == 0 {
		selector = labels
	}
	for _, label := range slices.Sorted(maps.Keys(t.Match)) {
		value, ok := a.fill(t.Match[label])
		if !ok {
			return nil, false
		}
		selector = selector.WithField([]string{label}, name, source.NewText(name, value))
	}
	term := source.NewMap(key,
		source.NewText(key, "labelSelector"), source.NewMap(key, source.NewText(key, "matchLabels"), selector),
		source.NewText(key, "topologyKey"), key)
	path := []string{"affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"}
	list := append(slices.Clone(spec.At(path...).Items()), term)
	return spec.WithField(path, key, source.NewList(key, list...)), true
}

// withNodeLabel adds the requirement that a node has a label to all required node selector terms of a pod
// spec, because a node only has to match one of them. What is open in a term is left out.
func withNodeLabel(spec, key *source.Node) *source.Node {
	path := []string{"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"}
	exists := source.NewMap(key,
		source.NewText(key, "key"), key,
		source.NewText(key, "operator"), source.NewText(key, "Exists"))
	list := spec.At(path...)
	if list == nil || list.Kind != source.Sequence {
		list = source.NewList(key, source.NewMap(key))
	}
	var terms []*source.Node
	for _, term := range list.Items() {
		at, requirements := key, term.Get("matchExpressions")
		if requirements != nil {
			at = requirements
		}
		all := append(slices.Clone(requirements.Items()), exists)
		terms = append(terms, term.WithField([]string{"matchExpressions"}, key, source.NewList(at, all...)))
	}
	return spec.WithField(path, key, source.NewList(list, terms...))
}

// labels returns the labels with known values.
func (a at) labels(p *Pods, template, name *source.Node) *source.Node {
	values := map[string]*source.Node{}
	add := func(key string, v *source.Node) {
		if was, twice := values[key]; twice && (was == nil || v == nil || was.Value != v.Value) || v != nil && v.Placeholder() {
			v = nil
		}
		values[key] = v
	}
	from := []*source.Node{template}
	from = append(from, lists.Of(p.Labels.From, a.get)...)
	for _, n := range from {
		if n.Placeholder() {
			*a.open = true // any label may be among them, with another value
		}
		for k, v := range n.Fields() {
			add(k.Value, v)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Labels.Add)) {
		if value, ok := a.fill(p.Labels.Add[key]); ok {
			add(key, source.NewText(name, value))
		} else {
			add(key, nil)
		}
	}
	labels := source.NewMap(name)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if v := values[key]; v != nil {
			labels = labels.WithField([]string{key}, name, v)
		}
	}
	return labels
}
