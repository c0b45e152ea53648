package rego

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
)

// rule is one rule before and after it is compiled.
type rule struct {
	id   string
	file string
	text string
	off  bool
	// reads are the lists that the rule looks at.
	reads reads
	// meta reads the annotation, once.
	meta func() diag.Rule
}

// report is the reference to what the rule reports.
func (r *rule) report() *ast.Term {
	return ast.NewTerm(ast.Ref{
		ast.DefaultRootDocument, ast.StringTerm("schedlint"), ast.StringTerm("rules"),
		ast.StringTerm(r.id), ast.StringTerm("report"),
	})
}

// module is one parsed file of the user's own: a rule, or a library for rules.
type module struct {
	file, text string
	parsed     *ast.Module
	rule       *rule // nil for a library
}

// loadBuiltin lists the built-in rules. Nothing is parsed: the tests vouch for
// them.
func loadBuiltin(rules fs.FS) ([]*rule, error) {
	if rules == nil {
		return nil, nil
	}
	names, err := fs.Glob(rules, "*/rule.rego")
	if err != nil {
		return nil, fmt.Errorf("listing the built-in rules: %w", err)
	}
	var list []*rule
	for _, name := range names {
		text, err := fs.ReadFile(rules, name)
		if err != nil {
			return nil, fmt.Errorf("reading a built-in rule: %w", err)
		}
		list = append(list, builtin(strings.TrimSuffix(name, "/rule.rego"), "rules/"+name, string(text)))
	}
	return list, nil
}

func builtin(id, file, text string) *rule {
	r := &rule{id: id, file: file, text: text, reads: readsOf(text)}
	r.meta = sync.OnceValue(func() diag.Rule {
		m, err := parse(file, header(text), true, capabilities())
		if err != nil {
			panic("rego: built-in rule: " + err.Error())
		}
		meta, errs := metadata(file, text, m)
		if len(errs) > 0 {
			panic("rego: built-in rule: " + all(errs).Error())
		}
		meta.ID = id
		return meta
	})
	return r
}

// header is the text up to the end of the package line.
func header(text string) string {
	at := strings.Index("\n"+text, "\npackage ")
	if at < 0 {
		return text
	}
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return text
	}
	return text[:at+end+1]
}

// parse reads one module. OPA leaves annotations alone unless told otherwise,
// and without annotations it does not check types. Panics of the parser are
// errors: the text may come from anybody.
func parse(file, text string, annotations bool, caps *ast.Capabilities) (m *ast.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s:1: the Rego parser fails on this file: %v", file, p)
		}
	}()
	m, err = ast.ParseModuleWithOpts(file, text, ast.ParserOptions{
		ProcessAnnotation: annotations, Capabilities: caps, RegoVersion: ast.RegoV1,
	})
	if err == nil && m == nil {
		return nil, fmt.Errorf("%s:1: the file is empty; a rule starts with METADATA and package schedlint.rules[\"<id>\"]", file)
	}
	return m, explain(err)
}

// ruleIDs are names that can be a folder, a key and a word in a comment.
const ruleIDs = `^[a-z0-9]+(-[a-z0-9]+)*$`

// own makes a module of a text of the user's own and says what is wrong with it.
func own(file, text string, caps *ast.Capabilities) (*module, []error) {
	parsed, err := parse(file, text, true, caps)
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
	meta, errs := metadata(file, text, parsed)
	if err := hasReport(file, parsed); err != nil {
		errs = append(errs, err)
	}
	meta.ID = id
	m.rule = &rule{id: id, file: file, text: text, reads: readsOf(text), meta: func() diag.Rule { return meta }}
	return m, errs
}

// idOf takes the id from the package; "" means that the module is a library.
func idOf(m *ast.Module) (string, error) {
	var path []string
	for _, t := range m.Package.Path[1:] { // the first is data
		s, _ := t.Value.(ast.String)
		path = append(path, string(s))
	}
	switch {
	case len(path) == 3 && path[0] == "schedlint" && path[1] == "rules":
		if !regexp.MustCompile(ruleIDs).MatchString(path[2]) {
			return "", fmt.Errorf("the rule id %q is not made of lower-case words with hyphens between them", path[2])
		}
		return path[2], nil
	case path[0] == "schedlint":
		return "", fmt.Errorf(`the package is %s, but a rule is schedlint.rules["<id>"], and the rest of schedlint is reserved`, m.Package.Path)
	case len(reports(m)) > 0:
		return "", fmt.Errorf(`the package is %s and has a report, but a rule is schedlint.rules["<id>"]`, m.Package.Path)
	}
	return "", nil
}

// reports are the definitions of report.
func reports(m *ast.Module) []*ast.Rule {
	var found []*ast.Rule
	for _, r := range m.Rules {
		if r.Head.Ref().String() == "report" || len(r.Head.Ref()) > 1 && r.Head.Ref()[0].Equal(ast.VarTerm("report")) {
			found = append(found, r)
		}
	}
	return found
}

const reportForm = "report contains result.diagnostic(rego.metadata.chain(), fact, message) if { ... }"

// hasReport demands that report is a set.
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
		if r.Head.RuleKind() != ast.MultiValue || len(r.Head.Ref()) > 1 || r.Default {
			return fmt.Errorf("%s:%d: report is not a set; write %s", file, r.Location.Row, reportForm)
		}
	}
	return nil
}

// near asks back when one of the names is probably meant by word.
func near(word string, names []string) string {
	if name := diag.Nearest(word, names); name != "" {
		return fmt.Sprintf(" (did you mean %s?)", name)
	}
	return ""
}

var errDuplicate = errors.New("two files define one rule")
