package facts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// comments returns the comments of all struct fields, by the names of the struct and the field. A
// field without a comment shares the comment of the field before it.
func comments(t testing.TB) map[[2]string]string {
	t.Helper()
	names, err := filepath.Glob("facts*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[[2]string]string{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
				typeComments(all, d)
			}
		}
	}
	return all
}

// typeComments adds the comments of a type and of its fields.
func typeComments(all map[[2]string]string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		of := spec.(*ast.TypeSpec)
		all[[2]string{of.Name.Name, ""}] = strings.Join(strings.Fields(d.Doc.Text()), " ")
		if s, ok := of.Type.(*ast.StructType); ok {
			fieldComments(all, of.Name.Name, s)
		}
	}
}

func fieldComments(all map[[2]string]string, of string, s *ast.StructType) {
	last := ""
	for _, f := range s.Fields.List {
		if f.Doc != nil {
			last = strings.Join(strings.Fields(f.Doc.Text()), " ")
		}
		for _, name := range f.Names {
			all[[2]string{of, name.Name}] = last
		}
	}
}

// known are the descriptions of the fields that every row has.
var known = map[string]string{
	"ID": "The id of the row, by which a finding gets its place.",
	"W":  "The workload of the row, as an index in the list of workloads; -1 for an object that creates no pods.",
}

// described derives descriptions from comments. Fields have the names that rules use, and a list
// has the description of its rows.
func described(t testing.TB) describer {
	all := comments(t)
	return func(of reflect.Type, field string) string {
		text := all[[2]string{of.Name(), field}]
		if f, _ := of.FieldByName(field); of == reflect.TypeFor[Facts]() && f.Type.Kind() == reflect.Slice {
			return short(renamed(all[[2]string{f.Type.Elem().Name(), ""}], f.Type.Elem()))
		}
		if common, ok := known[field]; ok && !strings.Contains(text, field+" ") {
			return common
		}
		return short(renamed(text, of))
	}
}

var subject = regexp.MustCompile(`^[A-Za-z_]+ (?:is|are) (the|a|an|how|what|whether|that|those|why|where|true|false|one)\b`)

// short drops the name at the beginning, because the name is shown beside the description.
func short(text string) string {
	m := subject.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	return strings.ToUpper(text[m[2]:m[2]+1]) + text[m[2]+1:]
}

var word = regexp.MustCompile(`\b[A-Z][A-Za-z]*\b`)

// renamed replaces the Go names of fields by the names that rules use, also at the beginning of a
// sentence.
func renamed(text string, of reflect.Type) string {
	names := map[string]string{}
	for f := range of.Fields() {
		names[f.Name] = f.Tag.Get("json")
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if name, ok := names[w]; ok {
			return name
		}
		return w
	})
}

// TestEveryFieldIsDescribed checks that each description mentions its field. The schema, the
// reference and the facts command show these descriptions.
func TestEveryFieldIsDescribed(t *testing.T) {
	all := comments(t)
	structs := map[reflect.Type]bool{}
	gatherStructs(reflect.TypeFor[Facts](), structs)
	for _, of := range slices.SortedFunc(maps.Keys(structs), func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) }) {
		for f := range of.Fields() {
			name, text := f.Tag.Get("json"), renamed(all[[2]string{of.Name(), f.Name}], of)
			if _, common := known[f.Name]; common || name == "" {
				continue
			}
			list := of == reflect.TypeFor[Facts]() && f.Type.Kind() == reflect.Slice
			if !list && !regexp.MustCompile(`\b`+name+`\b`).MatchString(text) {
				t.Errorf("%s.%s: the description does not speak of %s: %q", of.Name(), f.Name, name, text)
			}
		}
	}
}

func gatherStructs(t reflect.Type, all map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Slice:
		gatherStructs(t.Elem(), all)
	case reflect.Struct:
		if all[t] {
			return
		}
		all[t] = true
		for f := range t.Fields() {
			gatherStructs(f.Type, all)
		}
	}
}
