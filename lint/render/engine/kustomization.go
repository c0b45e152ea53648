package engine

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/render"
)

// use is a set of ways in which kustomizations use a file or directory.
type use uint

const (
	asResource  use = 1 << iota // file or directory with objects
	asComponent                 // directory
	asPatch                     // strategic merge patch or JSON patch
	asJSONPatch                 // JSON patch
	asPlugin                    // generator, transformer or validator: file, directory or inline text
	asSchema                    // CRDs
	asSetting                   // configurations, replacements, OpenAPI schema
	asData                      // contents of generated ConfigMaps and Secrets
	asKustomization
	asChart // template or values file of a chart
)

// kustomization is the kustomization of a directory.
type kustomization struct {
	dir, name string
	text      []byte
	spec      types.Kustomization
	doc       *parsed
	scalars   map[scalarKey][]*yaml.Node // positions of strings that no entry has claimed yet, in order
	entries   []*entry
	// charts lists the charts that the kustomization renders. printed holds their outputs, which are
	// virtual files in printedDir.
	charts     []*release
	inflated   bool
	printed    []*printedChart
	printedDir string
}

// entry is a string in a kustomization that names a file or a directory.
type entry struct {
	k     *kustomization
	field string
	use   use
	// value is the whole string, and name is the part that is a file name.
	value, name string
	node        *yaml.Node // nil if unknown
	// pointer is the overlay that added the entry, or nil if the kustomization file contains it.
	pointer *render.Overlay
	charts  []*release // charts of a generators entry
}

// scalarKey holds the value of a scalar and the lower-case name of the top-level field that
// contains the scalar.
type scalarKey struct{ field, value string }

var errNone = errors.New("has no kustomization.yaml")

// loadKustomization reads the kustomization of a directory. It returns nil if there is none.
func (t *tree) loadKustomization(dir string) (*kustomization, error) {
	var found []*file
	var refused error
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		f := t.read(path.Join(dir, name))
		var r refusal
		switch {
		case f.err == nil && !f.dir:
			found = append(found, f)
		case errors.As(f.err, &r) && refused == nil:
			refused = fmt.Errorf("%s %w", shown(path.Join(dir, name)), f.err)
		}
	}
	switch {
	case refused != nil:
		return nil, refused
	case len(found) > 1:
		return nil, fmt.Errorf("%s has %d kustomization files, expected one", shown(dir), len(found))
	case len(found) == 0:
		return nil, fmt.Errorf("%s %w", shown(dir), errNone)
	}
	return &kustomization{dir: dir, name: found[0].name, text: found[0].text}, nil
}

// read parses the kustomization with kustomize's own types and collects its entries.
func (k *kustomization) read() *render.Problem {
	doc, err := parse(k.text)
	if err != nil {
		return k.problem(nil, err)
	}
	if doc.err != nil {
		line, said := lineSaid(doc.err)
		return &render.Problem{Kind: render.Failed, File: k.name, Line: line, Column: 1, Detail: "invalid YAML: " + strings.TrimPrefix(said, "yaml: ")}
	}
	k.doc = doc
	if err := k.spec.Unmarshal(k.text); err != nil {
		// The problem is at the field that kustomize cannot parse.
		line, said := lineSaid(err)
		p := &render.Problem{Kind: render.Failed, File: k.name, Line: line, Column: 1, Detail: oneLine(said)}
		if m := mistyped().FindStringSubmatch(said); m != nil {
			p.Detail = fmt.Sprintf("%s: expected %s, found %s", m[2], typeWord(m[3]), typeWord(m[1]))
			if key := keyNamed(k.root(), m[2][strings.LastIndexByte(m[2], '.')+1:], 0); key != nil {
				p.Line, p.Column = key.Line, key.Column
			}
			return p
		}
		if _, after, ok := strings.Cut(said, `unknown field "`); ok {
			if key := keyNamed(k.root(), strings.TrimSuffix(strings.TrimSpace(after), `"`), 0); key != nil {
				p.Line, p.Column = key.Line, key.Column
			}
		}
		return p
	}
	k.scalars = map[scalarKey][]*yaml.Node{} // positions of all strings
	if root := k.root(); isMapping(root) {
		room := 200_000
		for i := 0; i+1 < len(root.Content); i += 2 {
			k.gather(strings.ToLower(root.Content[i].Value), root.Content[i+1], &room)
		}
	}
	for _, f := range fields {
		for _, value := range f.get(&k.spec) {
			e := &entry{k: k, field: f.field, use: f.use, value: value, name: named(f.use, value)}
			key := scalarKey{strings.ToLower(f.field), value}
			if nodes := k.scalars[key]; len(nodes) > 0 {
				e.node, k.scalars[key] = nodes[0], nodes[1:]
			}
			k.entries = append(k.entries, e)
		}
	}
	return nil
}

// mistyped matches Go's error about a value that has the wrong type for its field.
var mistyped = lazy.Regexp(`cannot unmarshal (\w+) into Go struct field (?:[A-Z]\w*\.)?([\w.]+) of type (\S+)`)

// typeWord returns the usual name of a Go or JSON type.
func typeWord(t string) string {
	for _, row := range []struct{ prefix, word string }{
		{"string", "a string"}, {"bool", "a boolean"}, {"int", "a number"}, {"float", "a number"}, {"number", "a number"},
		{"[]", "a list"}, {"array", "a list"},
	} {
		if strings.HasPrefix(strings.TrimLeft(t, "*"), row.prefix) {
			return row.word
		}
	}
	return "a map"
}

// keyNamed returns the first key with the given name, at any depth.
func keyNamed(n *yaml.Node, name string, depth int) *yaml.Node {
	if n == nil || depth > 100 {
		return nil
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Value == name {
			return child
		}
		if found := keyNamed(child, name, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// root returns the top-level mapping of the kustomization, or nil.
func (k *kustomization) root() *yaml.Node {
	if k.doc == nil || len(k.doc.docs) == 0 {
		return nil
	}
	return target(k.doc.docs[0])
}

func (k *kustomization) gather(field string, n *yaml.Node, room *int) {
	if *room--; *room < 0 {
		return
	}
	switch n = target(n); {
	case n == nil:
	case n.Kind == yaml.ScalarNode:
		key := scalarKey{field, n.Value}
		k.scalars[key] = append(k.scalars[key], n)
	default:
		for _, child := range n.Content {
			k.gather(field, child, room)
		}
	}
}

// key returns the key node of a top-level field, or nil. It ignores case.
func (k *kustomization) key(field string) *yaml.Node {
	key, _ := entryOf(k.root(), field, strings.EqualFold)
	return key
}

// problem returns a problem at a node, or at the first line if the node is nil.
func (k *kustomization) problem(at *yaml.Node, err error) *render.Problem {
	p := &render.Problem{Kind: render.Failed, File: k.name, Line: 1, Column: 1, Detail: oneLine(err.Error())}
	if at != nil && at.Line > 0 {
		p.Line, p.Column = at.Line, at.Column
	}
	var r refusal
	if errors.As(err, &r) {
		p.Kind = render.Refused
	}
	return p
}

// problem returns a problem at the entry, or at its field if the position of the entry is unknown.
func (e *entry) problem(err error) *render.Problem {
	at := e.node
	if e.pointer != nil {
		p := e.k.problem(nil, err)
		p.File, p.Line = e.pointer.File, e.pointer.Line
		return p
	}
	at = cmp.Or(at, e.k.key(e.field))
	return e.k.problem(at, err)
}

// named returns the file name in an entry. An entry of a generator may have the form key=file.
func named(u use, value string) string {
	if u != asData || downloaded(value) || cloned(value) {
		return value
	}
	if _, file, ok := strings.Cut(value, "="); ok {
		return file
	}
	return value
}

// label returns a description of an entry for messages.
func (e *entry) label() string { return e.field + " entry " + shown(masked(e.value)) }

// oneLine returns a message without line breaks and truncated to 500 bytes.
func oneLine(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "?")
	s = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage-3], "") + "..."
	}
	return s
}

const maxMessage = 500

// fields lists the kustomization fields that contain file names. The values come from kustomize's
// own types, which ignore the case of keys.
var fields = []struct {
	field string
	use   use
	get   func(*types.Kustomization) []string
}{
	{"resources", asResource, func(k *types.Kustomization) []string { return k.Resources }},
	{"bases", asResource, deprecatedBases},
	{"configurations", asSetting, func(k *types.Kustomization) []string { return k.Configurations }},
	{"crds", asSchema, func(k *types.Kustomization) []string { return k.Crds }},
	{"openapi", asSetting, func(k *types.Kustomization) []string { return some(k.OpenAPI["path"]) }},
	{"configMapGenerator", asData, func(k *types.Kustomization) []string {
		return lists.Gather(k.ConfigMapGenerator, func(g types.ConfigMapArgs) []string { return generatorData(g.GeneratorArgs) })
	}},
	{"secretGenerator", asData, func(k *types.Kustomization) []string {
		return lists.Gather(k.SecretGenerator, func(g types.SecretArgs) []string { return generatorData(g.GeneratorArgs) })
	}},
	{"generators", asPlugin, func(k *types.Kustomization) []string { return k.Generators }},
	{"components", asComponent, func(k *types.Kustomization) []string { return k.Components }},
	{"patchesStrategicMerge", asPatch, deprecatedMergePatches},
	{"patches", asPatch, func(k *types.Kustomization) []string { return patchPaths(k.Patches) }},
	{"patchesJson6902", asJSONPatch, deprecatedJSONPatches},
	{"replacements", asSetting, func(k *types.Kustomization) []string {
		return lists.Gather(k.Replacements, func(r types.ReplacementField) []string { return some(r.Path) })
	}},
	{"transformers", asPlugin, func(k *types.Kustomization) []string { return k.Transformers }},
	{"validators", asPlugin, func(k *types.Kustomization) []string { return k.Validators }},
}

func generatorData(g types.GeneratorArgs) []string {
	return slices.Concat(g.FileSources, g.EnvSources, some(g.EnvSource))
}

func patchPaths(patches []types.Patch) []string {
	return lists.Gather(patches, func(p types.Patch) []string { return some(p.Path) })
}

func some(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
