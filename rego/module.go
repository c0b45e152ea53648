package rego

import (
	"fmt"
	"regexp"

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
