package rego

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
)

// rule is one rule that may run: the code of a file under its own id, or the code of a template
// with the id and the parameters of an instance.
type rule struct {
	id string
	*code
	off bool
	// params holds the parameters, or nil for a rule without any.
	params *ast.Term
	// instance is the instance that the rule was made for, or nil for the rule of a file.
	instance *Instance
	// configured is set if configured parameters may be the reason why the rule fails.
	configured bool
}

// code is the file of a rule, compiled or not. A rule and its instances share it.
type code struct {
	id   string
	file string
	text string
	// pack is the pack of a built-in rule, or "".
	pack string
	// template is set for a rule that never runs itself.
	template bool
	// own is set for a custom rule.
	own bool
	// reads holds the lists that the rule reads.
	reads reads
	// program is nil until the rule is needed.
	program *program
	// notes reads the annotation, once.
	notes func() notes
}

// outsideCore reports whether the rule is outside the core: it may judge facts that no core rule
// reports.
func (r *rule) outsideCore() bool { return r.own || r.pack != "" || r.instance != nil }

// report returns the reference to the report of the rule.
func (c *code) report() *ast.Term {
	return ast.NewTerm(ast.Ref{
		ast.DefaultRootDocument, ast.StringTerm("schedlint"), ast.StringTerm("rules"),
		ast.StringTerm(c.id), ast.StringTerm("report"),
	})
}

// templateFolder is the folder of the built-in templates; any other folder of folders is a pack.
const templateFolder = "templates"

// loadBuiltin lists the built-in rules, those of packs and the templates. It parses nothing, as the
// tests have checked them.
func loadBuiltin(rules fs.FS) ([]*rule, error) {
	if rules == nil {
		return nil, nil
	}
	var list []*rule
	for _, pattern := range []string{"*/rule.rego", "*/*/rule.rego"} {
		names, err := fs.Glob(rules, pattern)
		if err != nil {
			return nil, fmt.Errorf("listing the built-in rules: %w", err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(rules, name)
			if err != nil {
				return nil, fmt.Errorf("reading a built-in rule: %w", err)
			}
			list = append(list, builtin(name, string(text)))
		}
	}
	return list, nil
}

// builtin returns the rule of a file, given its path.
func builtin(name, text string) *rule {
	pack, id, nested := strings.Cut(path.Dir(name), "/")
	if !nested {
		pack, id = "", pack
	}
	c := &code{id: id, file: "rules/" + name, text: text, reads: listsOf(text)}
	switch pack {
	case "":
	case templateFolder:
		c.template = true
	default:
		c.id, c.pack = pack+"."+id, pack
	}
	c.notes = sync.OnceValue(func() notes {
		m, err := parse(c.file, header(c.text), true)
		if err != nil {
			panic("rego: built-in rule: " + err.Error())
		}
		n, errs := metadata(c.id, c.file, c.text, m)
		if err := join(errs); err != nil {
			panic("rego: built-in rule: " + err.Error())
		}
		return n
	})
	return &rule{id: c.id, code: c}
}

// listsOf returns the lists of facts that a text reads. The parameters of a rule are not a list.
func listsOf(text string) reads {
	r := readsOf(text)
	delete(r.paths, "params")
	return r
}

// mentions reports whether the annotation may have a key. It avoids reading annotations without it.
func (c *code) mentions(key string) bool { return strings.Contains(header(c.text), key) }

// header returns the text up to the end of the package line.
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

// level returns the level that the rule itself declares. For a built-in rule it searches the text,
// as reading the annotation takes longer than most runs.
func (r *rule) level() diag.Level {
	if r.own || r.instance != nil {
		return r.meta().Level
	}
	head := header(r.text)
	if l := keyIn(head, "level"); l != "" {
		return diag.Level(l)
	}
	word := keyIn(head, "category")
	for _, c := range categories() {
		if c.name == word {
			return c.level
		}
	}
	return r.meta().Level
}

// keyIn returns the value of a key below custom, in the form that the annotations of built-in rules
// have, or "".
func keyIn(head, key string) string {
	_, after, found := strings.Cut(head, "\n#   "+key+": ")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}
