package rego

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/rules"
)

// update reports whether to rewrite generated files.
func update() bool { return os.Getenv("SCHEDLINT_UPDATE") != "" }

// regoFilesHere returns all Rego files with rules and libraries in the repository.
func regoFilesHere(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"lib/*.rego", "../rules/*/*.rego", "../rules/*/*/*.rego"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	}
	return texts
}

// TestRuleUnits runs the Rego unit tests of all rules.
func TestRuleUnits(t *testing.T) {
	modules := map[string]*ast.Module{}
	for name, text := range regoFilesHere(t) {
		m, err := parse(name, text, true)
		if err != nil {
			t.Fatal(err)
		}
		modules[name] = m
	}
	results, err := tester.NewRunner().SetModules(modules).RaiseBuiltinErrors(true).SetTimeout(DefaultDeadline).
		RunTests(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for r := range results {
		if count[r.Package]++; !r.Pass() {
			t.Errorf("%v: %v %v", r.Location, r, r.Error)
		}
	}
	for id := range ruleFolders(t) {
		const few = 3 // one row that is reported, one that passes, and one that is ignored
		if n := count[ast.MustParseRef(fmt.Sprintf("data.schedlint.rules[%q]", id+"_test")).String()]; n < few {
			t.Errorf("%s has %d unit tests, want at least %d", id, n, few)
		}
	}
}

// TestRuleUnitsHoldRows checks that the rows in unit tests have the fields of facts, with values
// of the right types.
func TestRuleUnitsHoldRows(t *testing.T) {
	lists := map[string]reflect.Type{}
	for _, list := range factLists(&facts.Facts{}) {
		lists[list.name] = list.rows.Type().Elem()
	}
	e := loaded(t, Options{})
	for id, dir := range ruleFolders(t) {
		name := filepath.Join("../rules", dir, "rule_test.rego")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := parse(name, string(text), true)
		if err != nil {
			t.Fatal(err)
		}
		rows, skip := 0, notRowsIn(m)
		ast.WalkTerms(m, func(term *ast.Term) bool {
			object, ok := term.Value.(ast.Object)
			if !ok || !rowLike(object, lists) || skip[term] {
				return false
			}
			rows++
			for _, problem := range holdsOne(term.Location, object, lists, e.find(id).reads.lists()) {
				t.Error(problem)
			}
			return true
		})
		if rows == 0 {
			t.Errorf("%s holds no row", name)
		}
	}
}

// notRowsIn returns the terms below the params of an input, and those in findings, which are not
// rows.
func notRowsIn(m *ast.Module) map[*ast.Term]bool {
	skip := map[*ast.Term]bool{}
	skipAll := func(t *ast.Term) {
		ast.WalkTerms(t, func(inner *ast.Term) bool {
			skip[inner] = true
			return false
		})
	}
	ast.WalkTerms(m, func(term *ast.Term) bool {
		object, ok := term.Value.(ast.Object)
		if !ok {
			return false
		}
		for _, key := range []string{"params", "given"} {
			if below := object.Get(ast.StringTerm(key)); below != nil {
				skipAll(below)
			}
		}
		if values := object.Get(ast.StringTerm("values")); values != nil && kindOf(values) == "an object" { // the values of a row are a list
			skipAll(term)
		}
		return false
	})
	return skip
}

// rowLike reports whether an object in a test is a row or a part of one, as opposed to a report or
// a complete input.
func rowLike(o ast.Object, lists map[string]reflect.Type) bool {
	for _, key := range o.Keys() {
		name, _ := key.Value.(ast.String)
		if _, isList := lists[string(name)]; name == "fact" || name == "params" || isList && o.Len() == 1 {
			return false
		}
	}
	return o.Len() > 0
}

// holdsOne compares an object in a test with the rows of the lists that a rule reads. It returns
// the problems with it as a row of the list that it fits best.
func holdsOne(at *ast.Location, o ast.Object, lists map[string]reflect.Type, read []string) (fewest []string) {
	first := true
	for _, list := range read {
		if lists[list] == nil {
			continue
		}
		if problems := holds(at, o, lists[list]); first || len(problems) < len(fewest) {
			first, fewest = false, problems
		}
	}
	return fewest
}

// holds compares an object in a test with the type of a row.
func holds(at *ast.Location, o ast.Object, row reflect.Type) (problems []string) {
	fields := map[string]reflect.Type{}
	for f := range row.Fields() {
		fields[f.Tag.Get("json")] = f.Type
	}
	for _, key := range o.Keys() {
		name, _ := key.Value.(ast.String)
		field, known := fields[string(name)]
		if !known {
			problems = append(problems, fmt.Sprintf("%v: rows of %v have no field %s", at, row, name))
			continue
		}
		fits := true
		switch value := o.Get(key).Value.(type) {
		case ast.String:
			fits = field.Kind() == reflect.String
		case ast.Number:
			fits = field.Kind() == reflect.Int
		case ast.Boolean:
			fits = field.Kind() == reflect.Bool
		case *ast.Array:
			fits = field.Kind() == reflect.Slice
			value.Foreach(func(item *ast.Term) {
				if object, ok := item.Value.(ast.Object); fits && ok {
					problems = append(problems, holds(at, object, field.Elem())...)
				}
			})
		case ast.Object:
			if fits = field.Kind() == reflect.Struct || field.Kind() == reflect.Map; field.Kind() == reflect.Struct {
				problems = append(problems, holds(at, value, field)...)
			}
		}
		if !fits {
			problems = append(problems, fmt.Sprintf("%v: %s is a %v in rows of %v", at, name, field, row))
		}
	}
	return problems
}

// TestFormat checks that every file is formatted by opa fmt.
func TestFormat(t *testing.T) {
	for name, text := range regoFilesHere(t) {
		want, err := format.SourceWithOpts(name, []byte(text), format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			t.Fatal(err)
		}
		if string(want) == text {
			continue
		}
		if !update() {
			t.Errorf("%s is not formatted; run SCHEDLINT_UPDATE=1 go test ./rego", name)
		} else if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// folders returns the ids of all built-in rules except templates, including pack rules.
func folders(t testing.TB) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(ruleFolders(t))), func(id string) bool { return kindOfFolder(t, id) == templateFolder })
}

// ruleFolders returns the folders of all built-in rules and templates, by id and relative to the
// root of the rules.
func ruleFolders(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*/rule.rego", "*/*/rule.rego"} {
		names, err := filepath.Glob(filepath.Join("../rules", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			dir, err := filepath.Rel("../rules", filepath.Dir(name))
			if err != nil {
				t.Fatal(err)
			}
			dir = filepath.ToSlash(dir)
			all[strings.ReplaceAll(strings.TrimPrefix(dir, templateFolder+"/"), "/", ".")] = dir
		}
	}
	return all
}

// kindOfFolder returns the name of the pack of a rule, "templates" for a template, or "" for any
// other rule.
func kindOfFolder(t testing.TB, id string) string {
	t.Helper()
	kind, _, nested := strings.Cut(ruleFolders(t)[id], "/")
	if !nested {
		return ""
	}
	return kind
}

// TestEmbedded checks that the program embeds every rule and no other file.
func TestEmbedded(t *testing.T) {
	var got, want []string
	err := fs.WalkDir(rules.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			got = append(got, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range ruleFolders(t) {
		want = append(want, dir+"/rule.rego")
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("rules.FS has %v, want %v; name the files in rules/rules.go", got, want)
	}
}

// TestFolders checks that each rule has two files and that they do not exceed the maximum size.
func TestFolders(t *testing.T) {
	const mostLines, mostOfTemplate = 25, 40 // a template replaces several rules; plain conditions take more lines than clever ones
	e := loaded(t, Options{})
	for id, dir := range ruleFolders(t) {
		files, err := os.ReadDir(filepath.Join("../rules", dir))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if !slices.Equal(names, []string{"rule.rego", "rule_test.rego"}) {
			t.Errorf("rules/%s holds %v, want rule.rego and rule_test.rego", dir, names)
		}
		most := mostLines
		if kindOfFolder(t, id) == templateFolder {
			most = mostOfTemplate
		}
		if text, _ := fs.ReadFile(rules.FS, dir+"/rule.rego"); policyLines(string(text)) > most {
			t.Errorf("rules/%s has %d lines of Rego, at most %d keep a rule readable", dir, policyLines(string(text)), most)
		}
		if r, _ := e.Rule(id); r.Template != (kindOfFolder(t, id) == templateFolder) {
			t.Errorf("rules/%s: custom.template is %v", dir, r.Template)
		}
	}
}

func policyLines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

// TestBuiltinRulesAreChecked makes the checks that a run skips. Built-in rules must load as custom
// rules and give the version that introduced them.
func TestBuiltinRulesAreChecked(t *testing.T) {
	e, err := Load(Options{Dirs: []string{"../rules"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.IDs(); !slices.Equal(got, folders(t)) {
		t.Errorf("rules %v, want one for each folder: %v", got, folders(t))
	}
	trusted := loaded(t, Options{})
	if !reflect.DeepEqual(e.All(), trusted.All()) {
		t.Error("the annotations read differently when the rules are built in")
	}
	for _, r := range e.rules {
		if r.file != "../rules/"+ruleFolders(t)[r.id]+"/rule.rego" {
			t.Errorf("%s: the package is that of %s", r.file, r.id)
		}
	}
	for _, r := range e.All() {
		if r.Since == "" || strings.HasSuffix(r.Title, ".") || !strings.HasSuffix(r.Description, ".") {
			t.Errorf("%s: custom.since %q, title %q or description %q is not in form", r.ID, r.Since, r.Title, r.Description)
		}
		if (r.Level == diag.LevelOff) != (r.Category == "advice" && r.Pack == "") {
			t.Errorf("%s: advice is off by default unless its pack is named, and nothing else is", r.ID)
		}
	}
}

// TestEveryFactIsConsumed requires that a built-in rule reads every list of questions. The other
// lists describe the input.
func TestEveryFactIsConsumed(t *testing.T) {
	e := loaded(t, Options{})
	for _, list := range factLists(&facts.Facts{}) {
		read := false
		for _, r := range e.rules {
			read = read || r.reads.has(list.name)
			if r.pack == "" && !r.template && (r.reads.all || len(r.reads.lists()) != 1) {
				t.Errorf("%s reads %v; a rule visits one list only", r.id, r.reads)
			}
		}
		if !read && !slices.Contains([]string{"workloads", "pools", "nodes", "capacity", "objects", "quotas", "limit_ranges", "runtime_classes"}, list.name) {
			t.Errorf("no rule reads input.%s", list.name)
		}
	}
}

// TestLevelsAreReadAtOnce checks that the text search for the level of a built-in rule gives the
// level in its annotation.
func TestLevelsAreReadAtOnce(t *testing.T) {
	e := loaded(t, Options{})
	for _, r := range e.rules {
		if got, want := r.level(), r.meta().Level; got != want {
			t.Errorf("%s: the text says %s, the annotation %s", r.id, got, want)
		}
	}
}
