package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
)

// category is a category of rules.
type category struct {
	name  string
	level diag.Level
	means string
}

// categories returns all categories, worst first.
func categories() []category {
	return []category{
		{"invalid", diag.LevelError, "the API server refuses the object, or the pods that it creates"},
		{"infeasible", diag.LevelError, "pods stay Pending on the declared topology; this is proved"},
		{"ineffective", diag.LevelWarning, "the constraint is accepted and does nothing"},
		{"fragile", diag.LevelWarning, "it holds now, and not during a rollout, a drain, a migration or a loss of nodes"},
		{"advice", diag.LevelOff, "a recommendation; off unless the configuration gives it a level"},
		{"policy", diag.LevelError, "a rule of your own"},
	}
}

// notes holds the annotation of a rule.
type notes struct {
	diag.Rule
	// params is the schema of the parameters, or nil if there are none.
	params *schema
	asks   []ask
	// untested holds conditions that no test has to notice.
	untested []untested
}

// metadata reads the annotation of the package and returns all problems with it. OPA silently
// accepts unknown keys.
func metadata(id, file, text string, m *ast.Module) (notes, []error) {
	var errs []error
	for _, a := range m.Annotations {
		errs = append(errs, unknownKeys(file, text, a)...)
	}
	a := packageAnnotation(m)
	if a == nil {
		return notes{}, append(errs, fmt.Errorf(
			"%s:%d: no METADATA comment stands right above the package; it gives title, description, schemas and custom.category",
			file, m.Package.Location.Row))
	}
	n := notes{Rule: diag.Rule{ID: id, Title: strings.TrimSpace(a.Title), Description: strings.TrimSpace(a.Description)}}
	if pack, _, ok := strings.Cut(id, "."); ok {
		n.Pack = pack
	}
	for _, related := range a.RelatedResources {
		n.Related = append(n.Related, related.Ref.String())
	}
	for _, problem := range slices.Concat(texts(&n.Rule, a), custom(&n, a.Custom)) {
		errs = append(errs, fmt.Errorf("%s:%d: METADATA %s", file, a.Location.Row, problem))
	}
	if n.params != nil && len(errs) == 0 {
		definition := n.params.definition()
		a.Schemas = append(a.Schemas, &ast.SchemaAnnotation{Path: ast.InputRootRef.Append(ast.StringTerm("params")), Definition: &definition})
		n.Params = n.params.described()
	}
	return n, errs
}

func packageAnnotation(m *ast.Module) *ast.Annotations {
	for _, a := range m.Annotations {
		if a.Scope == "package" {
			return a
		}
	}
	return nil
}

// texts also requires the one annotation that makes OPA check the fields of facts.
func texts(r *diag.Rule, a *ast.Annotations) (problems []string) {
	if r.Title == "" {
		problems = append(problems, "has no title; give one line that names what is bad")
	}
	if strings.Contains(r.Title, "\n") {
		problems = append(problems, "has a title of several lines; give one")
	}
	if r.Description == "" {
		problems = append(problems, "has no description; say what happens, why, and what to do")
	}
	typed := func(s *ast.SchemaAnnotation) bool {
		return s.Path.Equal(ast.InputRootRef) && s.Schema.Equal(factsRef())
	}
	if !slices.ContainsFunc(a.Schemas, typed) {
		problems = append(problems, `has no schemas with the entry "- input: schema.facts", which makes misspelt fields an error`)
	}
	return problems
}

func factsRef() ast.Ref { return ast.SchemaRootRef.Append(ast.StringTerm("facts")) }

// metadataKeys lists the keys that OPA knows.
func metadataKeys() []string {
	return []string{
		"title", "description", "schemas", "custom", "related_resources", "scope", "authors", "organizations",
		"entrypoint", "labels", "compile",
	}
}

// unknownKeys reads the comment itself, as OPA drops such keys.
func unknownKeys(file, text string, a *ast.Annotations) (errs []error) {
	lines := strings.Split(text, "\n")
	for row := a.Location.Row; row < len(lines); row++ { // starts after "# METADATA"
		line, isComment := strings.CutPrefix(strings.TrimSpace(lines[row]), "#")
		if !isComment {
			return errs
		}
		key, ok := topKey(line)
		if ok && !slices.Contains(metadataKeys(), key) {
			errs = append(errs, fmt.Errorf("%s:%d: METADATA has the unknown key %s%s; there are %s",
				file, row+1, key, near(key, metadataKeys()), strings.Join(metadataKeys(), ", ")))
		}
	}
	return errs
}

// topKey returns the key of a comment line that is not indented beyond the usual one space.
func topKey(line string) (string, bool) {
	line = strings.TrimPrefix(line, " ")
	key, _, found := strings.Cut(line, ":")
	return strings.Trim(key, `"'`), found && key != "" && !strings.ContainsAny(key, " \t-#{[")
}
