package kinds

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Proposal is a row that the schema of a CustomResourceDefinition suggests. Only the operator's source
// says whether the operator copies the fields.
type Proposal struct {
	Row Row
	// Open lists fields that a row cannot describe, or that have no number of pods.
	Open []string
}

// Defines reports whether an object is a CustomResourceDefinition.
func Defines(o *source.Object) bool {
	return o.Kind == "CustomResourceDefinition" && o.Group() == "apiextensions.k8s.io"
}

// Propose reads a CustomResourceDefinition and looks for properties with the shapes of pod templates
// and of placement fields, in the version that is stored. ok is false if its schema has no such
// properties.
func Propose(o *source.Object) (p Proposal, ok bool) {
	spec := o.Root.Get("spec")
	p.Row.Group, p.Row.Kind = spec.Get("group").Text(), spec.At("names", "kind").Text()
	versions := spec.Get("versions").Items()
	schema := spec.At("validation", "openAPIV3Schema") // apiextensions.k8s.io/v1beta1
	for _, v := range versions {
		if stored, _ := v.Get("storage").Bool(); stored && v.Get("schema") != nil {
			schema = v.At("schema", "openAPIV3Schema")
		}
	}
	var found finder
	for k, v := range schema.Get("properties").Fields() {
		if k.Value != "status" && k.Value != "metadata" && k.Value != "apiVersion" && k.Value != "kind" {
			found.walk(v, []level{{schema: schema}, {k.Value, v}})
		}
	}
	p.Open = found.open
	taken := map[string]bool{}
	numbered := map[[2]string]int{} // indices of pods, by their list and their number
	for _, h := range found.holders {
		pods, why := h.pods()
		id := [2]string{pods.Each, pods.Replicas.Path}
		other, twice := numbered[id]
		switch {
		case why == "" && id[1] == "" && len(pods.Fields) == 1 && pods.Fields["tolerations"] != "":
			p.Open = append(p.Open, pathOf(h.way)+" has tolerations and nothing else of a pod")
		case why != "":
			p.Open = append(p.Open, pathOf(h.way)+" "+why)
		case twice && id[1] != "" && p.Row.Pods[other].takes(pods.Fields):
		case twice && id[1] != "":
			p.Open = append(p.Open, pathOf(h.way)+" may be about the same pods as "+cmp.Or(p.Row.Pods[other].Template, p.Row.Pods[other].Spec, "other fields")+": a row has one of them")
		default:
			numbered[id] = len(p.Row.Pods)
			pods.Name = unique(pods.Name, taken)
			p.Row.Pods = append(p.Row.Pods, pods)
			if pods.Replicas.Path == "" {
				p.Open = append(p.Open, pathOf(h.way)+" has no number of pods beside it or above it")
			}
		}
	}
	if len(p.Row.Pods) == 1 && p.Row.Pods[0].Each == "" {
		p.Row.Pods[0].Name = ""
	}
	return p, len(p.Row.Pods)+len(p.Open) > 0
}

// takes adds fields to the pods, and reports whether none of them was there.
func (p *Pods) takes(fields map[string]string) bool {
	for field := range fields {
		if p.Fields == nil || p.Fields[field] != "" {
			return false
		}
	}
	maps.Copy(p.Fields, fields)
	return len(fields) > 0
}

// level is a property on the way from the root of a schema to another property. The name is [] for the
// items of a list, and {} for the values of a map.
type level struct {
	name   string
	schema *source.Node
}

// holder is a place in a schema that has a pod template, a pod spec or placement fields.
type holder struct {
	way []level
	// template and spec are set if the property is one. fields maps fields of a pod spec to their paths
	// below the property.
	template, spec bool
	fields         map[string]string
}

type finder struct {
	holders []holder
	open    []string
}

// deepest is the maximum depth of a property that is looked at.
const deepest = 20

func (f *finder) walk(n *source.Node, way []level) {
	if len(way) > deepest || n == nil {
		return
	}
	way = slices.Clip(way)
	properties := n.Get("properties")
	last := strings.ToLower(way[len(way)-1].name)
	switch {
	case properties.Get("metadata") != nil && isPodSpec(properties.Get("spec")),
		(strings.HasSuffix(last, "podtemplate") || last == "template") && open(n):
		f.add(holder{way: way, template: true})
		return
	case isPodSpec(n), strings.HasSuffix(last, "podspec") && open(n):
		f.add(holder{way: way, spec: true})
		return
	}
	fields, others := placement(properties)
	if len(fields) > 0 {
		f.add(holder{way: way, fields: fields})
	}
	for k, v := range properties.Fields() {
		switch {
		case slices.Contains(others, k.Value):
			f.add(holder{way: append(way, level{k.Value, v}), fields: map[string]string{"affinity": ""}})
		case !isPlacement(k.Value, v):
			f.walk(v, append(way, level{k.Value, v}))
		}
	}
	f.walk(n.Get("items"), append(way, level{"[]", n.Get("items")}))
	if v := n.Get("additionalProperties"); v != nil && v.Kind == source.Map {
		f.walk(v, append(way, level{"{}", v}))
	}
}

// add adds a holder unless a row has no path for it.
func (f *finder) add(h holder) {
	lists := 0
	for _, l := range h.way {
		if l.name == "[]" {
			lists++
		}
		if l.name == "{}" {
			f.open = append(f.open, pathOf(h.way)+" is in a map, whose keys are not known")
			return
		}
	}
	if lists > 1 {
		f.open = append(f.open, pathOf(h.way)+" is in a list in a list")
		return
	}
	f.holders = append(f.holders, h)
}

// open reports whether a schema accepts any field.
func open(n *source.Node) bool {
	all, _ := n.Get("x-kubernetes-preserve-unknown-fields").Bool()
	return all && n.Get("properties").Len() == 0
}

// isPodSpec reports whether a schema has the shape of a pod spec: containers, and a field that only a pod
// has.
func isPodSpec(n *source.Node) bool {
	properties := n.Get("properties")
	containers := properties.Get("containers")
	return (containers.At("items", "properties", "name") != nil || open(containers.Get("items"))) &&
		slices.ContainsFunc([]string{"affinity", "nodeSelector", "tolerations"}, func(name string) bool { return properties.Get(name) != nil })
}

// isPlacement reports whether a property of this name has the shape that the field has in a pod spec. A
// schema that accepts anything has it.
func isPlacement(name string, n *source.Node) bool {
	kind, item := n.Get("type").Text(), n.Get("items")
	loose := open(n) || kind == "object" && n.Get("properties").Len() == 0 && n.Get("additionalProperties") == nil
	items := func(names ...string) bool {
		return kind == "array" && (open(item) || !slices.ContainsFunc(names, func(name string) bool { return item.At("properties", name) == nil })) || open(n)
	}
	switch name {
	case "affinity":
		return loose || isAffinity(n)
	case "tolerations":
		return items("key", "operator", "effect")
	case "nodeSelector":
		return loose || n.At("properties", "matchLabels") != nil || n.At("additionalProperties", "type").Text() == "string"
	case "topologySpreadConstraints":
		return items("maxSkew", "topologyKey")
	}
	return false
}

// isAffinity reports whether a schema has the shape of affinity and no other properties.
func isAffinity(n *source.Node) bool {
	parts := 0
	for k := range n.Get("properties").Fields() {
		if k.Value != "nodeAffinity" && k.Value != "podAffinity" && k.Value != "podAntiAffinity" {
			return false
		}
		parts++
	}
	return parts > 1
}

// placement returns the placement fields among properties and their paths, and properties with other names
// that have the shape of affinity.
func placement(properties *source.Node) (fields map[string]string, others []string) {
	fields = map[string]string{}
	for k, v := range properties.Fields() {
		name := k.Value
		switch {
		case isPlacement(name, v):
			fields[name] = name
			if v.At("properties", "matchLabels") != nil {
				fields[name] = name + ".matchLabels"
			}
		case isAffinity(v):
			others = append(others, name)
		case (name == "podAffinity" || name == "podAntiAffinity" || name == "nodeAffinity") && v.At("properties", "requiredDuringSchedulingIgnoredDuringExecution") != nil:
			fields["affinity."+name] = name
		}
	}
	if len(fields) == 0 || len(fields) == 1 && fields["tolerations"] != "" && (properties.Get("taints") != nil || properties.Get("nodeTaints") != nil) {
		return nil, others // a description of nodes
	}
	return fields, others
}

func isResources(n *source.Node) bool {
	return n.At("properties", "limits") != nil && n.At("properties", "requests") != nil || open(n)
}

// amounts are names of properties that have a number of pods.
var amounts = []string{"replicas", "replicaCount", "size", "instances", "count", "servers", "numReplicas", "numberOfInstances", "nodeCount", "nodes", "members", "parallelism"}

// pods returns the pods of a holder. The number is that of the nearest property from which only names lead
// to the holder that say nothing about the pods, and so are resources and names of classes. why is set if
// a row has no path for the holder.
func (h *holder) pods() (p Pods, why string) {
	list := slices.IndexFunc(h.way, func(l level) bool { return l.name == "[]" })
	path := func(way []level, more string) string {
		if list < 0 || len(way) <= list {
			return join(way, more)
		}
		return "." + join(way[list+1:], more)
	}
	top := len(h.way) - 1
	for top > 0 && h.number(top) == "" && vague(h.way[top].name) {
		top--
	}
	if name := h.number(top); name != "" {
		p.Replicas.Path = path(h.way[:top+1], name)
		if n, ok := h.way[top].schema.At("properties", name, "default").Int(); ok {
			value := int(n)
			p.Replicas.Default = &value
		}
	}
	switch here := path(h.way, ""); {
	case here == "." && len(h.fields) == 0:
		return p, "is an item of a list, which a row cannot name"
	case h.template:
		p.Template = here
	case h.spec:
		p.Spec = here
	default:
		p.Fields = map[string]string{}
		for field, below := range h.fields {
			p.Fields[field] = path(h.way, below)
		}
		for i := len(h.way) - 1; i >= top; i-- {
			for name, v := range h.way[i].schema.Get("properties").Fields() {
				beside := name.Value == "resources" && isResources(v) || (name.Value == "priorityClassName" || name.Value == "schedulerName") && v.Get("type").Text() == "string"
				if beside && p.Fields[name.Value] == "" {
					p.Fields[name.Value] = path(h.way[:i+1], name.Value)
				}
			}
		}
	}
	p.Name = nameOf(h.way)
	if list >= 0 {
		p.Each = join(h.way[:list], "")
		key := keyOf(h.way[list].schema, h.way[list-1].schema)
		if key == "" {
			return p, "is in a list without names, which the pods need"
		}
		p.Name = strings.TrimSuffix("{."+key+"}-"+nameOf(h.way[list+1:]), "-")
	}
	return p, ""
}

// keyOf returns the property whose value is different for each item of a list, or "".
func keyOf(item, list *source.Node) string {
	if keys := list.Get("x-kubernetes-list-map-keys").Items(); len(keys) == 1 {
		return keys[0].Text()
	}
	if item.At("properties", "name") != nil {
		return "name"
	}
	for _, required := range item.Get("required").Items() {
		if name := required.Text(); strings.HasSuffix(name, "Name") {
			return name
		}
	}
	return ""
}

// number returns the name of the property with a number of pods at a place of the way.
func (h *holder) number(at int) string {
	for _, name := range amounts {
		if h.way[at].schema.At("properties", name, "type").Text() == "integer" {
			return name
		}
	}
	return ""
}

// words are parts of names that do not say which pods a property is about.
var words = []string{"", "[]", "spec", "pod", "template", "deployment", "statefulset", "scheduling", "placement", "affinity", "kubernetes", "common"}

// vague reports whether a property is likely to be about the pods of the property above it.
func vague(name string) bool {
	name = strings.ToLower(name)
	return name == "" || slices.ContainsFunc(words[2:], func(part string) bool { return strings.Contains(name, part) })
}

// nameOf returns the last name on a way that says which pods it is about.
func nameOf(way []level) string {
	for _, l := range slices.Backward(way) {
		name := strings.ToLower(l.name)
		if !slices.Contains(words, name) && !slices.ContainsFunc(words[2:], func(word string) bool {
			return strings.HasPrefix(name, word) && slices.Contains(words, strings.TrimPrefix(name, word))
		}) {
			return l.name
		}
	}
	return ""
}

// join joins the names on a way and one more.
func join(way []level, more string) string {
	all := names(way)
	if more != "" {
		all = append(all, more)
	}
	return strings.Join(all, ".")
}

func names(way []level) (all []string) {
	for _, l := range way {
		if l.name != "" {
			all = append(all, l.name)
		}
	}
	return all
}

// pathOf returns a path for people, with [] after lists and {} after maps.
func pathOf(way []level) string {
	return strings.NewReplacer(".[]", "[]", ".{}", "{}").Replace(strings.Join(names(way), "."))
}

func unique(name string, taken map[string]bool) string {
	name = cmp.Or(name, "pods")
	one := name
	for i := 2; taken[one]; i++ {
		one = name + "-" + strconv.Itoa(i)
	}
	taken[one] = true
	return one
}
