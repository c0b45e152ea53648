package engine

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
)

// results converts kustomize's objects to text with marks.
type results struct {
	p    *plan
	m    *marker
	text bytes.Buffer
	line int // number of lines in text so far
	docs []found
	// marks lists the marks. In each mark, File is an index into marker.files. The method finish
	// replaces it with an index into Output.Files.
	marks []render.Mark
	// names maps the kind and name of a rendered object to the documents that may declare it. The
	// name includes prefixes, suffixes and the names that JSON patches set. It does not include
	// changes by other patches, plugins or hashes.
	names map[identity][]origin
	// patches lists the overlay's JSON patches, which leave no markers.
	patches []jsonPatch
}

// found records which document declares a rendered object.
type found struct {
	line   int
	origin origin
	known  bool
}

// output returns the result as kustomize prints it (resmap: AsYaml), with marks.
func (p *plan) output(result resmap.ResMap, m *marker) (*render.Output, error) {
	r := &results{p: p, m: m, patches: p.jsonPatches()}
	if m == nil {
		r.m = newMarker("")
	}
	for i, res := range result.Resources() {
		if i > 0 {
			r.text.WriteString("---\n")
			r.line++
		}
		r.m.lift(res.YNode(), 0)
		text, err := res.AsYAML()
		if err == nil {
			err = r.object(res, text, m != nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.finish(), nil
}

// object adds one object. The YAML tree of res contains the markers, and text is kustomize's output
// for the object.
func (r *results) object(res *resource.Resource, text []byte, marked bool) (err error) {
	f := found{line: r.line + 1}
	if doc, err := parse(text); err == nil && doc.err == nil && len(doc.docs) == 1 {
		root := doc.docs[0]
		v := votes{docs: map[origin]bool{}}
		first := len(r.marks)
		if marked {
			r.pair(res.YNode(), root, &v, 0)
		}
		f.origin, f.known = r.origin(root, v)
		if marked {
			var names []string // the object's name in the document that declares it, if known
			if doc := r.p.parsed[f.origin.file]; f.known && doc != nil && f.origin.doc < len(doc.docs) && doc.docs[f.origin.doc] != nil {
				names = []string{identityOf(doc.docs[f.origin.doc]).name}
			}
			r.counted(root, names)
			r.patched(res, root, names, first)
		}
		before := text
		if text, err = r.substituted(root, before); err != nil {
			return err
		}
		if marked && !bytes.Equal(before, text) {
			after, _ := parse(text)
			r.moveMarks(first, root, after.docs[0])
		}
	}
	r.docs = append(r.docs, f)
	r.text.Write(text)
	r.line += bytes.Count(text, []byte("\n"))
	if r.text.Len() > r.p.most.Bytes {
		return refusal(fmt.Sprintf("the result has more than %d bytes, which is the limit of a render", r.p.most.Bytes))
	}
	return nil
}

// votes lists the documents to which an object's marks refer. kind is the document that sets the
// object's kind, or nil if it is unknown.
type votes struct {
	docs map[origin]bool
	kind *origin
}

// pair walks the tree of an object and its printed text in parallel, and adds marks. Both have the
// same fields, but the order may differ.
func (r *results) pair(node, printed *yaml.Node, v *votes, depth int) {
	if node = target(node); node == nil || node.Kind != printed.Kind || depth > maxNesting {
		return
	}
	switch node.Kind {
	case yaml.MappingNode:
		byKey := fieldsOf(node)
		for i := 0; i+1 < len(printed.Content); i += 2 {
			key := printed.Content[i].Value
			if value := byKey[key]; value != nil {
				r.pair(value, printed.Content[i+1], v, depth+1)
				if depth == 0 && key == "kind" {
					if at, ok := r.voted(value, printed.Content[i+1]); ok && at.doc >= 0 {
						v.kind = &origin{r.m.files[at.file], at.doc}
					}
				}
			}
		}
	case yaml.SequenceNode:
		if len(node.Content) != len(printed.Content) {
			return
		}
		for i, item := range node.Content {
			r.pair(item, printed.Content[i], v, depth+1)
		}
	case yaml.ScalarNode:
		at, ok := r.voted(node, printed)
		if !ok {
			return
		}
		r.marks = append(r.marks, render.Mark{Line: r.line + printed.Line, Column: printed.Column, File: at.file, At: at.line, AtColumn: at.column})
		if at.doc >= 0 {
			v.docs[origin{r.m.files[at.file], at.doc}] = true
		}
	}
}

// fieldsOf returns the values of a mapping by key. The value of a repeated key is nil.
func fieldsOf(n *yaml.Node) map[string]*yaml.Node {
	all := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if _, twice := all[key]; twice {
			all[key] = nil
			continue
		}
		all[key] = n.Content[i+1]
	}
	return all
}

// voted returns the position for the marker of a scalar. It returns false if there is no marker, or
// if kustomize has changed the value.
func (r *results) voted(node, printed *yaml.Node) (*place, bool) {
	at, ok := r.m.lifted(node)
	return at, ok && at.value.same(printed)
}

// finish builds the output. Files are numbered in the order of their names.
func (r *results) finish() *render.Output {
	out := &render.Output{Text: r.text.Bytes(), Marks: r.marks}
	for _, name := range sorting.Keys(r.p.printed) {
		out.Unchecked = append(out.Unchecked, r.p.printed[name].out.Unchecked...)
	}
	index := map[string]int{}
	for _, d := range r.docs {
		if d.known {
			index[d.origin.file] = 0
		}
	}
	for _, mark := range r.marks {
		index[r.m.files[mark.File]] = 0
	}
	out.Files = sorting.Keys(index)
	for i, name := range out.Files {
		index[name] = i
		if c := r.p.printed[name]; c != nil {
			if out.Charts == nil {
				out.Charts = map[string]*render.Output{}
			}
			out.Charts[name] = c.out
		}
	}
	for i := range out.Marks {
		out.Marks[i].File = index[r.m.files[out.Marks[i].File]]
	}
	for _, d := range r.docs {
		doc := render.Document{Line: d.line, File: -1, Index: -1}
		if d.known {
			doc.File, doc.Index = index[d.origin.file], d.origin.doc
		}
		out.Documents = append(out.Documents, doc)
	}
	return out
}

// origin identifies a document in the sources.
type origin struct {
	file string
	doc  int
}

// identity identifies a rendered object by kind and name. It leaves out the namespace and the API
// version, because patches may change them.
type identity struct{ group, kind, name string }

func identityOf(root *yaml.Node) identity {
	group, _, versioned := strings.Cut(text(field(root, "apiVersion")), "/")
	if !versioned {
		group = ""
	}
	return identity{group, text(field(root, "kind")), text(field(field(root, "metadata"), "name"))}
}

// origin returns the document that declares a rendered object. This is the document that sets the
// object's kind. If a patch set the kind, origin looks for a single document with the same kind
// and, after all renaming, the same name.
func (r *results) origin(root *yaml.Node, v votes) (origin, bool) {
	if v.kind != nil {
		return *v.kind, true
	}
	if r.names == nil {
		r.names = map[identity][]origin{}
		if root := r.p.rootKustomization(); root != nil {
			for _, o := range r.p.through(root, nil) {
				if !slices.Contains(r.names[o.identity], o.origin) {
					r.names[o.identity] = append(r.names[o.identity], o.origin)
				}
			}
		}
	}
	named := r.names[identityOf(root)]
	if len(named) == 1 {
		return named[0], true
	}
	both := lists.Where(named, func(o origin) bool { return v.docs[o] })
	if len(both) == 1 {
		return both[0], true
	}
	return origin{}, false
}

// renamed is an object with its current name.
type renamed struct {
	identity
	origin
}

// unprefixed lists the kinds whose names get no prefix or suffix from kustomize
// (api/internal/builtins: PrefixTransformer).
var unprefixed = []string{"CustomResourceDefinition", "APIService", "Namespace"}

// through adds the resources of a kustomization to objects and renames objects as kustomize does.
// The components rename all objects first. The kustomization's own prefix and suffix come last. The
// plan limits the number of objects.
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
	p.rename(k, objects)
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

// rename changes the names of objects as the JSON patches of a kustomization do. A patch changes no
// name if it has a label selector, or if its target fits several objects.
func (p *plan) rename(k *kustomization, objects []renamed) {
	for _, patch := range deprecatedPatches(&k.spec) {
		target := patch.Target
		if target == nil || target.LabelSelector != "" || target.AnnotationSelector != "" {
			continue
		}
		text := []byte(patch.Patch)
		if patch.Path != "" {
			text = p.tree.read(path.Join(k.dir, patch.Path)).text
		}
		match, err := types.NewSelectorRegex(target)
		if err != nil || !bytes.Contains(text, []byte("/metadata/name")) {
			continue
		}
		fits := func(o renamed) bool {
			return match.MatchGvk(resid.NewGvk(o.group, target.Version, o.kind)) && match.MatchName(o.name)
		}
		i := slices.IndexFunc(objects, fits)
		if i < 0 || slices.IndexFunc(objects[i+1:], fits) >= 0 {
			continue
		}
		for _, op := range operationsIn(string(text), "", nil) {
			if slices.Equal(op.path, []string{"metadata", "name"}) && op.value.Kind == yaml.ScalarNode {
				objects[i].name = op.value.Value
			}
		}
	}
}

// declared returns the objects that a file declares.
func declared(name string, doc *parsed) (all []renamed) {
	for i, root := range doc.docs {
		for _, o := range objectsOf(root) {
			all = append(all, renamed{identityOf(o), origin{name, i}})
		}
	}
	return all
}

// objectsOf returns the items of a List, or the document itself for any other object.
func objectsOf(root *yaml.Node) []*yaml.Node {
	if root == nil {
		return nil
	}
	if items := field(root, "items"); items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(text(field(root, "kind")), "List") {
		return items.Content
	}
	return []*yaml.Node{root}
}
