package rego

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
)

// rule is one rule, compiled or not.
type rule struct {
	id   string
	file string
	text string
	off  bool
	// own is set for a rule of the user's own.
	own bool
	// reads are the lists that the rule looks at.
	reads reads
	// program is nil until somebody needs the rule.
	program *program
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
	return &rule{id: id, file: file, text: text, reads: readsOf(text), meta: sync.OnceValue(func() diag.Rule {
		meta, err := builtinMetadata(id, file, text)
		if err != nil {
			panic("rego: built-in rule: " + err.Error())
		}
		return meta
	})}
}

func builtinMetadata(id, file, text string) (diag.Rule, error) {
	m, err := parse(file, header(text), true)
	if err != nil {
		return diag.Rule{}, err
	}
	meta, errs := metadata(file, text, m)
	meta.ID = id
	return meta, join(errs)
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
