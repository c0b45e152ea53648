package engine

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// definition is the kind whose schemas are omitted. No rule uses a schema, and kustomize needs a
// second for 3 MB of schemas. In many projects, each root contains megabytes of them.
const definition = "CustomResourceDefinition"

// schemaKey is the position of a schema key whose value was removed.
type schemaKey struct{ line, column int }

// withoutSchemas replaces the schemas of CustomResourceDefinitions with blank lines. Line numbers
// therefore do not change. It also returns the positions of the schema keys. It supports only the
// block style of CRD generators, with the kind before the versions. It returns nil if it finds no
// schema.
func withoutSchemas(text []byte) (out []byte, keys []schemaKey) {
	if !bytes.Contains(text, []byte("\nkind: "+definition)) {
		return nil, nil
	}
	out = make([]byte, 0, len(text)/8)
	var in outline
	line := 0
	for row := range bytes.Lines(text) {
		line++
		if in.schema(row) {
			out = append(out, '\n')
			continue
		}
		if out = append(out, row...); in.inSchema > 0 {
			keys = append(keys, schemaKey{line, in.inSchema - 1})
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return out, keys
}

// outline tracks the position of a line in a definition. The depth of a field is its column,
// counted from 1. It is 0 outside the field.
type outline struct {
	kind, group bool
	spec        bool
	field       int // depth of the fields of spec
	versions    bool
	item        int // depth of the dashes below versions
	inSchema    int // depth of a schema key; lines that are indented more belong to the schema
}

// schema advances to the next line and reports whether the line belongs to a schema.
func (o *outline) schema(row []byte) bool {
	row = bytes.TrimRight(row, " \r\n")
	rest := bytes.TrimLeft(row, " ")
	column := len(row) - len(rest) + 1
	switch {
	case o.inSchema > 0 && (len(rest) == 0 || column > o.inSchema-1):
		return true
	case len(rest) == 0 || rest[0] == '#':
		o.inSchema = 0
		return false
	}
	o.inSchema = 0
	switch {
	case bytes.HasPrefix(row, []byte("---")), bytes.HasPrefix(row, []byte("...")):
		*o = outline{}
	case column == 1:
		o.kind = o.kind || string(row) == "kind: "+definition
		o.group = o.group || bytes.HasPrefix(row, []byte("apiVersion: apiextensions.k8s.io/"))
		*o = outline{kind: o.kind, group: o.group, spec: string(row) == "spec:" && o.kind && o.group}
	case !o.spec:
	case o.field == 0 || column == o.field && rest[0] != '-':
		o.field, o.item, o.versions = column, 0, string(rest) == "versions:"
	case !o.versions:
	case rest[0] == '-' && (o.item == 0 || column == o.item):
		o.item = column
		rest = bytes.TrimLeft(rest[1:], " ")
		column = len(row) - len(rest) + 1
		fallthrough
	default:
		if o.item > 0 && column == o.item+2 && string(rest) == "schema:" {
			o.inSchema = column + 1
		}
	}
	return false
}

// onlyKeys reports whether each key is in a version of a definition and has no value.
func onlyKeys(docs []*yaml.Node, keys []schemaKey) bool {
	there := map[schemaKey]bool{}
	for _, root := range docs {
		if text(field(root, "kind")) != definition || !strings.HasPrefix(text(field(root, "apiVersion")), "apiextensions.k8s.io/") {
			continue
		}
		versions := field(field(root, "spec"), "versions")
		if versions == nil || versions.Kind != yaml.SequenceNode {
			continue
		}
		for _, v := range versions.Content {
			for i := 0; isMapping(v) && i+1 < len(v.Content); i += 2 {
				if key := v.Content[i]; v.Content[i+1].ShortTag() == "!!null" {
					there[schemaKey{key.Line, key.Column}] = key.Value == "schema"
				}
			}
		}
	}
	return !slices.ContainsFunc(keys, func(key schemaKey) bool { return !there[key] })
}

// seesSchemas reports whether any part of the build, such as a patch or a generator, may read or
// change the schemas of CustomResourceDefinitions.
func (p *plan) seesSchemas() bool {
	for name := range p.cut {
		if p.uses[name] != 0 && p.uses[name] != asResource {
			return true
		}
	}
	if o := p.root.Overlay; o != nil && o.Variables != nil {
		return true
	}
	for _, k := range p.kusts {
		s := &k.spec
		if len(s.OpenAPI)+len(s.Crds)+len(s.Configurations)+len(s.Generators)+len(s.Transformers)+len(s.Validators)+len(s.Replacements)+len(deprecatedVars(s)) > 0 {
			return true
		}
		for _, l := range s.Labels {
			if len(l.FieldSpecs) > 0 {
				return true
			}
		}
		for _, patch := range deprecatedPatches(s) {
			if t := patch.Target; t != nil {
				pattern, err := regexp.Compile("^(?:" + t.Kind + ")$") // kustomize anchors patterns in the same way (api/types: SelectorRegex)
				if t.Kind == "" || err != nil || pattern.MatchString(definition) {
					return true
				}
			}
		}
	}
	return false
}
