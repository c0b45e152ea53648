package rego

import (
	"context"
	"fmt"
	"io/fs"
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

// update tells that generated files are to be rewritten.
func update() bool { return os.Getenv("SCHEDLINT_UPDATE") != "" }

// regoFilesHere are all files of Rego in the repository's rules and libraries.
func regoFilesHere(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"lib/*.rego", "../rules/*/*.rego"} {
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
	for _, id := range folders(t) {
		const few = 3 // one that reports, one that passes, one that is silent
		if n := count[fmt.Sprintf("data.schedlint.rules[%q]", id+"_test")]; n < few {
			t.Errorf("%s has %d unit tests, want at least %d", id, n, few)
		}
	}
}

// TestRuleUnitsHoldRows: the rows of unit tests have fields that rows have, and values of
// their types.
func TestRuleUnitsHoldRows(t *testing.T) {
	lists := map[string]reflect.Type{}
	for _, list := range factLists(&facts.Facts{}) {
		lists[list.name] = list.rows.Type().Elem()
	}
	e := loaded(t, Options{})
	for _, id := range folders(t) {
		name := filepath.Join("../rules", id, "rule_test.rego")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := parse(name, string(text), true)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for list := range e.find(id).reads.lists {
			ast.WalkTerms(m, func(term *ast.Term) bool {
				if object, ok := term.Value.(ast.Object); ok && rowLike(object, lists) {
					rows++
					holds(t, term.Location, object, lists[list])
					return true
				}
				return false
			})
		}
		if rows == 0 {
			t.Errorf("%s holds no row", name)
		}
	}
}

// rowLike reports whether an object of a test is a row, or part of one, and not what a
// rule reports or the whole input.
func rowLike(o ast.Object, lists map[string]reflect.Type) bool {
	for _, key := range o.Keys() {
		name, _ := key.Value.(ast.String)
		if _, isList := lists[string(name)]; name == "fact" || isList && o.Len() == 1 {
			return false
		}
	}
	return o.Len() > 0
}

// holds compares an object of a test with the type of a row.
func holds(t *testing.T, at *ast.Location, o ast.Object, row reflect.Type) {
	t.Helper()
	fields := map[string]reflect.Type{}
	for f := range row.Fields() {
		fields[f.Tag.Get("json")] = f.Type
	}
	for _, key := range o.Keys() {
		name, _ := key.Value.(ast.String)
		field, known := fields[string(name)]
		if !known {
			t.Errorf("%v: rows of %v have no field %s", at, row, name)
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
					holds(t, at, object, field.Elem())
				}
			})
		case ast.Object:
			if fits = field.Kind() == reflect.Struct; fits {
				holds(t, at, value, field)
			}
		}
		if !fits {
			t.Errorf("%v: %s is a %v in rows of %v", at, name, field, row)
		}
	}
}

// TestFormat keeps every file as opa fmt writes it.
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

func folders(t *testing.T) []string {
	t.Helper()
	entries, err := fs.ReadDir(rules.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestFolders keeps a rule to two files of its own, and to its size.
func TestFolders(t *testing.T) {
	const mostLines = 20
	entries, err := os.ReadDir("../rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join("../rules", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if !slices.Equal(names, []string{"rule.rego", "rule_test.rego"}) {
			t.Errorf("rules/%s holds %v, want rule.rego and rule_test.rego", e.Name(), names)
		}
		if text, _ := fs.ReadFile(rules.FS, e.Name()+"/rule.rego"); policyLines(string(text)) > mostLines {
			t.Errorf("rules/%s has %d lines of Rego, at most %d keep a rule readable", e.Name(), policyLines(string(text)), mostLines)
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

// TestBuiltinRulesAreChecked makes the checks that a run leaves out: built-in
// rules pass through the door of users' rules, and say which version brought
// them.
func TestBuiltinRulesAreChecked(t *testing.T) {
	e, err := Load(Options{Dirs: []string{"../rules"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.IDs(); !slices.Equal(got, folders(t)) {
		t.Errorf("rules %v, want one for each folder: %v", got, folders(t))
	}
	trusted := loaded(t, Options{})
	if !reflect.DeepEqual(e.Rules(), trusted.Rules()) {
		t.Error("the annotations read differently when the rules are built in")
	}
	for _, r := range e.rules {
		if r.file != "../rules/"+r.id+"/rule.rego" {
			t.Errorf("%s: the package is that of %s", r.file, r.id)
		}
	}
	for _, r := range e.Rules() {
		if r.Since == "" || strings.HasSuffix(r.Title, ".") || !strings.HasSuffix(r.Description, ".") {
			t.Errorf("%s: custom.since %q, title %q or description %q is not in form", r.ID, r.Since, r.Title, r.Description)
		}
		if (r.Level == diag.LevelOff) != (r.Category == "advice") {
			t.Errorf("%s: advice is off by default, and nothing else is", r.ID)
		}
	}
}

// TestEveryFactIsConsumed demands a built-in reader for every list of questions; the other
// lists describe what there is.
func TestEveryFactIsConsumed(t *testing.T) {
	e := loaded(t, Options{})
	for _, list := range factLists(&facts.Facts{}) {
		read := false
		for _, r := range e.rules {
			read = read || r.reads.has(list.name)
			if r.reads.all || len(r.reads.lists) != 1 {
				t.Errorf("%s reads %v; a rule visits one list only", r.id, r.reads)
			}
		}
		if !read && !slices.Contains([]string{"workloads", "pools", "nodes", "capacity", "objects"}, list.name) {
			t.Errorf("no rule reads input.%s", list.name)
		}
	}
}
