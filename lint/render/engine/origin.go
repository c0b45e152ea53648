package engine

import (
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// origin is a document of a source.
type origin struct {
	file string
	doc  int
}

// identity is what an object is called in the result, without its namespace and without
// the version of its kind, which a patch may change.
type identity struct{ group, kind, name string }

func identityOf(root *yaml.Node) identity {
	group, _, versioned := strings.Cut(text(field(root, "apiVersion")), "/")
	if !versioned {
		group = ""
	}
	return identity{group, text(field(root, "kind")), text(field(field(root, "metadata"), "name"))}
}

// origin is the document that declares an object of the result: the one that its kind
// comes from, or, if that was patched, the only one whose object ends up with its kind
// and name.
func (r *results) origin(root *yaml.Node, v votes) (origin, bool) {
	if v.kind != nil {
		return *v.kind, true
	}
	if r.names == nil {
		r.names = r.p.finalNames()
	}
	named := r.names[identityOf(root)]
	if len(named) == 1 {
		return named[0], true
	}
	var both []origin
	for _, o := range named {
		if v.docs[o] {
			both = append(both, o)
		}
	}
	if len(both) == 1 {
		return both[0], true
	}
	return origin{}, false
}

// renamed is an object on its way through the kustomizations.
type renamed struct {
	identity
	origin
}

// unprefixed are kinds whose names a prefix or suffix does not change (api/internal/
// builtins: PrefixTransformer).
var unprefixed = []string{"CustomResourceDefinition", "APIService", "Namespace"}

// finalNames says which documents become an object of an identity, by the prefixes and
// suffixes on the way. Names that a patch, a plugin or a hash changes are not found.
func (p *plan) finalNames() map[identity][]origin {
	root := p.rootKustomization()
	all := map[identity][]origin{}
	if root == nil {
		return all
	}
	for _, o := range p.through(root, nil) {
		if !slices.Contains(all[o.identity], o.origin) {
			all[o.identity] = append(all[o.identity], o.origin)
		}
	}
	return all
}

// through is what a kustomization makes of objects, in kustomize's order: its resources
// join them, its components change all of them, and then it does. The plan bounds how
// many there are.
func (p *plan) through(k *kustomization, objects []renamed) []renamed {
	for _, e := range k.entries {
		if e.use != asResource {
			continue
		}
		switch f := p.tree.read(path.Join(k.dir, e.name)); {
		case f.err != nil:
		case !f.dir && p.parsed[f.name] != nil:
			objects = append(objects, declared(f.name, p.parsed[f.name])...)
		case f.dir && p.kusts[f.name] != nil:
			objects = append(objects, p.through(p.kusts[f.name], nil)...)
		}
	}
	for _, c := range k.printed {
		objects = append(objects, declared(c.name, c.doc)...)
	}
	for _, e := range k.entries {
		if e.use == asComponent {
			if c := p.kusts[p.tree.read(path.Join(k.dir, e.name)).name]; c != nil {
				objects = p.through(c, objects)
			}
		}
	}
	if k.spec.NamePrefix == "" && k.spec.NameSuffix == "" {
		return objects
	}
	for i := range objects {
		if o := &objects[i]; !slices.Contains(unprefixed, o.kind) {
			o.name = k.spec.NamePrefix + o.name + k.spec.NameSuffix
		}
	}
	return objects
}

// declared are the objects of a file.
func declared(name string, doc *parsed) (all []renamed) {
	for i, root := range doc.docs {
		for _, o := range objectsOf(root) {
			all = append(all, renamed{identityOf(o), origin{name, i}})
		}
	}
	return all
}

// objectsOf are the objects of a document: the items of a List, or itself.
func objectsOf(root *yaml.Node) []*yaml.Node {
	if root == nil {
		return nil
	}
	if items := field(root, "items"); items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(text(field(root, "kind")), "List") {
		return items.Content
	}
	return []*yaml.Node{root}
}
