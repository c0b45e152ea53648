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

// rule is one rule that may run: the code of a file under its own id, or that of a
// template with the id and the parameters of an instance.
type rule struct {
	id string
	*code
	off bool
	// params are the parameters; nil for a rule that has none.
	params *ast.Term
	// instance is what the rule was made of, nil for the rule of a file.
	instance *Instance
	// configured is set if parameters of the user's own may be why the rule fails.
	configured bool
}

// code is the file of a rule, compiled or not. A rule and its instances share it.
type code struct {
	id   string
	file string
	text string
	// pack is the folder of packs that a built-in rule is in, "" for none.
	pack string
	// template is set for one that never runs itself.
	template bool
	// own is set for a rule of the user's own.
	own bool
	// reads are the lists that the rule looks at.
	reads reads
	// program is nil until somebody needs the rule.
	program *program
	// notes reads the annotation, once.
	notes func() notes
}

// further reports whether the rule is none of the core: it may judge facts that those are
// content with.
func (r *rule) further() bool { return r.own || r.pack != "" || r.instance != nil }

// report is the reference to what the rule reports.
func (c *code) report() *ast.Term {
	return ast.NewTerm(ast.Ref{
		ast.DefaultRootDocument, ast.StringTerm("schedlint"), ast.StringTerm("rules"),
		ast.StringTerm(c.id), ast.StringTerm("report"),
	})
}

// templateFolder is the folder of the built-in templates; any other folder of folders is
// a pack.
const templateFolder = "templates"

// loadBuiltin lists the built-in rules, those of packs and the templates. Nothing is
// parsed: the tests vouch for them.
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

// builtin is the rule of a file, by its path.
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
		n, err := builtinMetadata(c)
		if err != nil {
			panic("rego: built-in rule: " + err.Error())
		}
		return n
	})
	return &rule{id: c.id, code: c}
}

func builtinMetadata(c *code) (notes, error) {
	m, err := parse(c.file, header(c.text), true)
	if err != nil {
		return notes{}, err
	}
	n, errs := metadata(c.id, c.file, c.text, m)
	return n, join(errs)
}

// listsOf are the lists of facts that a text reads. The parameters of a rule are no list.
func listsOf(text string) reads {
	r := readsOf(text)
	delete(r.paths, "params")
	return r
}

// mentions reports whether the annotation may have a key. It saves reading annotations
// that do not.
func (c *code) mentions(key string) bool { return strings.Contains(header(c.text), key) }

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

// level is what the rule itself says of its level. Of a built-in rule the text says it at
// once: reading the annotation takes longer than most runs.
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

// keyIn is the value of a key below custom, as the annotations of built-in rules have it;
// "" for none.
func keyIn(head, key string) string {
	_, after, found := strings.Cut(head, "\n#   "+key+": ")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}
