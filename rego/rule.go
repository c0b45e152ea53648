package rego

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
)

// rule is a rule that can run. An instance has its own id and parameters. It shares its code with
// the rule or template that it is based on.
type rule struct {
	id string
	*code
	off bool
	// params holds the parameters, or nil if the rule has none.
	params *ast.Term
	// instance is the configuration entry that created the rule, or nil if the rule has its own
	// file.
	instance *Instance
	// configured is set if the configuration sets parameters of the rule. If such a rule fails, the
	// parameters may be the cause.
	configured bool
}

// code is a rule's file, before or after compilation. A rule and its instances share it.
type code struct {
	id   string
	file string
	text string
	// pack is the name of a built-in rule's pack, or "" if the rule is not in a pack.
	pack string
	// template is set if the rule is a template, which never runs on its own.
	template bool
	// own is set for custom rules.
	own bool
	// reads holds the lists or fields of the facts that the rule reads.
	reads reads
	// program is nil until the rule is first evaluated.
	program *program
	// notes returns the annotation. It is parsed on the first call.
	notes func() notes
}

// outsideCore reports whether the rule is a custom rule, a pack rule or an instance. Only these
// rules may report rows that no core rule reports.
func (r *rule) outsideCore() bool { return r.own || r.pack != "" || r.instance != nil }

// report returns a reference to the rule's report.
func (c *code) report() *ast.Term {
	return ast.NewTerm(ast.Ref{
		ast.DefaultRootDocument, ast.StringTerm("schedlint"), ast.StringTerm("rules"),
		ast.StringTerm(c.id), ast.StringTerm("report"),
	})
}

// templateFolder is the folder with the built-in templates. Any other folder that contains folders
// is a pack.
const templateFolder = "templates"

// loadBuiltin loads the built-in rules, including those in packs and templates. It does not parse
// them, because the tests have already checked them.
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

// builtin creates a built-in rule from its file name and source.
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

// listsOf returns the lists of facts that a rule's source refers to, excluding input.params.
func listsOf(text string) reads {
	r := readsOf(text)
	delete(r.paths, "params")
	return r
}

// mentions reports whether the annotation may contain a key. It only searches the text, because
// parsing the annotation is slow.
func (c *code) mentions(key string) bool { return strings.Contains(header(c.text), key) }

// header returns the text up to and including the package line.
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

// level returns the level that the rule declares. For a built-in rule, it searches the text,
// because parsing the annotation would take longer than most runs.
func (r *rule) level() diag.Level {
	if r.own || r.instance != nil {
		return r.meta().Level
	}
	head := header(r.text)
	if l := keyIn(head, "level"); l != "" {
		return diag.Level(l)
	}
	word := keyIn(head, "category")
	for _, c := range categories {
		if c.name == word {
			return c.level
		}
	}
	return r.meta().Level
}

// keyIn returns the value of a key below custom, or "" if the key is missing. It relies on the
// layout of built-in rules' annotations.
func keyIn(head, key string) string {
	_, after, found := strings.Cut(head, "\n#   "+key+": ")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}

// Limits on custom rule files. A typical rule has 1 to 3 KiB.
const (
	maxModuleBytes = 64 << 10
	maxModules     = 1000
)

// join joins all errors. It returns nil if there are none.
func join(errs []error) error { return errors.Join(errs...) }

// loadOwn reads and parses all modules that contain custom rules or libraries.
func loadOwn(o Options) ([]*module, error) {
	var modules []*module
	var errs []error
	for _, dir := range o.Dirs {
		name := dir
		if o.Shown != nil {
			name = o.Shown(dir)
		}
		files, err := ruleFiles(dir, name, o.Instead)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found, problems := newModules(files)
		errs = append(errs, problems...)
		modules = append(modules, found...)
		for _, m := range found {
			if o.Without != nil && m != nil && m.file == o.Without.File {
				leaveOut(m.parsed, o.Without.n)
			}
		}
		// A file that cannot be parsed is treated as a rule.
		if o.Instead == nil && !slices.ContainsFunc(found, func(m *module) bool { return m == nil || m.rule != nil }) {
			errs = append(errs, fmt.Errorf(`%s: the folder holds no rule; a rule is a file <id>/rule.rego of the package schedlint.rules["<id>"]`, name))
		}
	}
	if o.Instead != nil {
		files, problems := o.Instead.modules()
		found, more := newModules(files)
		modules, errs = append(modules, found...), slices.Concat(errs, problems, more)
	}
	if len(errs) == 0 {
		errs = duplicates(modules)
	}
	return modules, join(errs)
}

// ruleFiles reads the rules and libraries in a folder and its subfolders. Vendored rules must match
// their lock files.
func ruleFiles(dir, name string, instead *Folder) ([]textFile, error) {
	files, err := regoFiles(dir, name, func(name string) bool { return !isTest(name) })
	if err != nil {
		return nil, err
	}
	locked, errs := vendored.CheckDir(dir, name)
	for i := range files {
		files[i].locked = slices.ContainsFunc(locked, func(home string) bool { return home == "." || strings.HasPrefix(files[i].name, home+"/") })
	}
	if instead == nil {
		return files, join(errs)
	}
	return slices.DeleteFunc(files, func(f textFile) bool {
		one, err := filepath.Abs(filepath.FromSlash(f.name))
		other, otherErr := filepath.Abs(instead.Dir)
		return err == nil && otherErr == nil && worktree.Inside(other, one)
	}), nil
}

func newModules(files []textFile) (modules []*module, errs []error) {
	for _, f := range files {
		m, problems := newModule(f.name, f.text)
		if m != nil {
			m.locked = f.locked
		}
		errs = append(errs, problems...)
		modules = append(modules, m)
	}
	return modules, errs
}

// modules returns the folder's rules and libraries. The limits are the same as for a folder on
// disk.
func (f *Folder) modules() (all []textFile, errs []error) {
	for _, name := range sorting.Keys(f.Files) {
		text, shown := f.Files[name], path.Join(filepath.ToSlash(filepath.Clean(f.Dir)), name)
		switch {
		case !strings.HasSuffix(name, ".rego") || isTest(name):
		case len(text) > maxModuleBytes:
			errs = append(errs, fmt.Errorf("%s: %w", shown, tooLarge(int64(len(text)))))
		case len(all) == maxModules:
			return all, append(errs, fmt.Errorf("%s: the folder holds more than %d modules", f.Dir, maxModules))
		default:
			all = append(all, textFile{name: shown, text: string(text)})
		}
	}
	return all, errs
}

func tooLarge(bytes int64) error {
	return fmt.Errorf("the file has %d bytes; a module has at most %d", bytes, maxModuleBytes)
}

// duplicates returns an error for each package with several files. OPA reads a package's annotation
// from only one of the files.
func duplicates(modules []*module) (errs []error) {
	first := map[string]*module{}
	for _, m := range modules {
		name := m.parsed.Package.Path.String()
		at := fmt.Sprintf("%s:%d", m.file, m.parsed.Package.Location.Row)
		switch other := first[name]; {
		case other == nil:
			first[name] = m
		case other.rule == nil:
			errs = append(errs, fmt.Errorf("%s: %s stands in %s, too; keep one file per package", at, m.parsed.Package, other.file))
		case other.locked:
			errs = append(errs, fmt.Errorf("%s: the rule %s is vendored already, in %s; remove one of them, or update that folder with schedlint policy vendor --to", at, other.rule.id, other.file))
		default:
			errs = append(errs, fmt.Errorf("%s: the rule %s exists already, in %s; remove one of them, or give it another id", at, other.rule.id, other.file))
		}
	}
	return errs
}

// textFile is a Rego file that has not been parsed yet.
type textFile struct {
	name, text string
	locked     bool // listed in the lock file of a folder with vendored rules
}

// EditorDir is the name of the folder with copies of the libraries for editors. It is not loaded,
// because the program has the libraries itself.
const EditorDir = ".schedlint"

// regoFiles reads the *.rego files in a folder and its subfolders, sorted by path. It skips a file
// if wanted returns false for its name, and the folder EditorDir. Errors show the argument "name" as the folder. Files are
// opened through os.Root, so no path can escape the folder.
func regoFiles(dir, name string, wanted func(name string) bool) ([]textFile, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: the folder of rules does not exist", name)
	case err != nil:
		return nil, fmt.Errorf("reading the folder of rules: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: the folder of rules is a symbolic link; name the folder itself", name)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: this is not a folder; name the folder that holds the rules", name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the folder of rules: %w", err)
	}
	defer root.Close()
	folder, shown := root.FS(), filepath.ToSlash(filepath.Clean(name))
	var files []textFile
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading the folder of rules: %w", err)
		}
		at := path.Join(shown, name)
		if entry.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: symbolic links are not followed; put the file itself here", at)
		}
		if entry.IsDir() && entry.Name() == EditorDir {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".rego") || !wanted(name) {
			return nil
		}
		if len(files) == maxModules {
			return fmt.Errorf("%s: the folder holds more than %d modules", shown, maxModules)
		}
		text, err := read(folder, name, entry)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		files = append(files, textFile{name: at, text: text})
		return nil
	})
	return files, err
}

func read(folder fs.FS, name string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", fmt.Errorf("reading a rule: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("this is not a regular file")
	}
	if info.Size() > maxModuleBytes {
		return "", tooLarge(info.Size())
	}
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return "", fmt.Errorf("reading a rule: %w", err)
	}
	return string(text), nil
}
