package rego

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
)

// module is one parsed custom file: a rule, or a library for rules.
type module struct {
	file, text string
	parsed     *ast.Module
	rule       *rule // nil for a library
	locked     bool  // vendored, according to a lock
}

// parse reads one module. OPA ignores annotations unless asked to read them, and without
// annotations it does not check types. Panics of the parser become errors, as the text is
// untrusted.
func parse(file, text string, annotations bool) (m *ast.Module, err error) {
	return parseWith(file, text, annotations, capabilities())
}

func parseWith(file, text string, annotations bool, c *ast.Capabilities) (m *ast.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s:1: the Rego parser fails on this file: %v", file, p)
		}
	}()
	m, err = ast.ParseModuleWithOpts(file, text, ast.ParserOptions{
		ProcessAnnotation: annotations, Capabilities: c, RegoVersion: ast.RegoV1,
	})
	return m, explain(err)
}

// newModule reads a custom text and returns all problems with it.
func newModule(file, text string) (*module, []error) {
	parsed, err := parse(file, text, true)
	if err != nil {
		return nil, []error{err}
	}
	m := &module{file: file, text: text, parsed: parsed}
	id, err := idOf(parsed)
	if err != nil {
		return nil, []error{fmt.Errorf("%s:%d: %w", file, parsed.Package.Location.Row, err)}
	}
	if id == "" {
		return m, nil
	}
	said, errs := metadata(id, file, text, parsed)
	if err := hasReport(file, parsed); err != nil {
		errs = append(errs, err)
	}
	c := &code{id: id, file: file, text: text, own: true, template: said.Template, notes: func() notes { return said }}
	m.rule = &rule{id: id, code: c}
	return m, errs
}

// idForm makes an id fit for a folder, a key and a word in a comment. The part before the dot names
// a pack.
const idForm = `^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)?$`

// idOf returns the id from the package, or "" for a library.
func idOf(m *ast.Module) (string, error) {
	var path []string
	for _, t := range m.Package.Path[1:] { // the first is data
		s, _ := t.Value.(ast.String)
		path = append(path, string(s))
	}
	switch {
	case len(path) == 3 && path[0] == "schedlint" && path[1] == "rules":
		if !regexp.MustCompile(idForm).MatchString(path[2]) {
			return "", fmt.Errorf("the rule id %q is not made of lower-case words with hyphens between them, and at most one dot behind the name of a pack", path[2])
		}
		return path[2], nil
	case path[0] == "schedlint":
		return "", fmt.Errorf(`the %s is reserved; a rule is package schedlint.rules["<id>"], a library any other`, m.Package)
	case len(reports(m)) > 0:
		return "", fmt.Errorf(`the %s has a report, which a library has not; a rule is package schedlint.rules["<id>"]`, m.Package)
	}
	return "", nil
}

// reports returns the definitions of report, whatever their form.
func reports(m *ast.Module) []*ast.Rule {
	var found []*ast.Rule
	for _, r := range m.Rules {
		if name, ok := r.Head.Ref()[0].Value.(ast.Var); ok && name == "report" {
			found = append(found, r)
		}
	}
	return found
}

const reportForm = `report contains result.finding(rego.metadata.chain(), row, {"message": message}) if { ... }`

// hasReport requires report to be a set.
func hasReport(file string, m *ast.Module) error {
	found := reports(m)
	if len(found) == 0 {
		var names []string
		for _, r := range m.Rules {
			names = append(names, r.Head.Ref().String())
		}
		return fmt.Errorf("%s:%d: the rule has no report%s; write %s", file, m.Package.Location.Row, near("report", names), reportForm)
	}
	for _, r := range found {
		if r.Head.RuleKind() != ast.MultiValue || len(r.Head.Ref()) > 1 {
			return fmt.Errorf("%s:%d: report is not a set; write %s", file, r.Location.Row, reportForm)
		}
	}
	return nil
}

// near suggests the name that a word probably means.
func near(word string, names []string) string {
	if name := diag.Nearest(word, names); name != "" {
		return fmt.Sprintf(" (did you mean %s?)", name)
	}
	return ""
}

// CheckID returns an error if the id of a rule is malformed.
func CheckID(id string) error {
	if !regexp.MustCompile(idForm).MatchString(id) {
		return fmt.Errorf("the rule id %q is not made of lower-case words with hyphens between them, such as web-runs-twice or team.web-runs-twice", id)
	}
	return nil
}

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
