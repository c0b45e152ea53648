package policy

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/expect"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
)

// ownRule is one of a team's own rules, together with its files.
type ownRule struct {
	diag.Rule
	// file is the path of the rule file, and dir is its folder.
	file, dir string
	// vendored is set if the rule is vendored and therefore must not be changed.
	vendored bool
}

// every turns off all rules. A rule that is off needs no parameters, so it can be checked, tested,
// documented and bundled without the configuration of those who use it.
func every(string) bool { return true }

// ownRules loads the rules in the given folders and their subfolders.
func ownRules(dirs []string) ([]ownRule, error) {
	engine, err := rego.Load(rego.Options{Dirs: dirs, Off: every})
	if err != nil {
		return nil, err
	}
	var all []ownRule
	for _, r := range engine.All() {
		file := engine.File(r.ID)
		all = append(all, ownRule{r, file, filepath.Dir(filepath.FromSlash(file)), engine.Vendored(r.ID)})
	}
	return all, nil
}

// caseNames lists the kinds of fixtures that each rule needs. The rule reports a finding in a bad
// fixture and none in a good one. An unknown fixture contains too little information to decide.
var caseNames = []string{"bad", "good", "unknown"}

// fixture is a folder of manifests for testing a rule.
type fixture struct {
	name, dir string
	// nodes is the path of the file that declares the nodes, or "" if there is no such file.
	nodes string
	files map[string][]byte
}

// fixtures returns the rule's fixtures, sorted by name.
func (r *ownRule) fixtures() ([]fixture, error) {
	root := filepath.Join(r.dir, "fixtures")
	entries, err := os.ReadDir(root)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var all []fixture
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := fixture{name: e.Name(), dir: filepath.Join(root, e.Name()), files: map[string][]byte{}}
		for _, path := range []string{filepath.Join(f.dir, "nodes.yaml"), filepath.Join(root, "nodes.yaml")} {
			if _, err := os.Stat(path); err == nil && f.nodes == "" {
				f.nodes = path
			}
		}
		names, err := filepath.Glob(filepath.Join(f.dir, "*.yaml"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				return nil, err
			}
			if info.Size() > maxFixture {
				return nil, fmt.Errorf("%s: the file has %d bytes; a fixture has at most %d", name, info.Size(), maxFixture)
			}
			if f.files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// maxFixture is the maximum size of a fixture file in bytes.
const maxFixture = 1 << 20

// kind returns bad, good or unknown if the fixture's name starts with one of these words, or ""
// otherwise.
func (f *fixture) kind() string {
	i := slices.IndexFunc(caseNames, func(kind string) bool { return f.name == kind || strings.HasPrefix(f.name, kind+"-") })
	if i < 0 {
		return ""
	}
	return caseNames[i]
}

// wanted returns a problem for each finding that a good fixture expects.
func (f *fixture) wanted() (all []expect.Problem) {
	if f.kind() != "good" {
		return nil
	}
	for _, p := range expect.Check(f.files, nil) {
		p.Message = "a good fixture has no findings, and this line expects one; move the manifest to a fixture bad"
		all = append(all, p)
	}
	return all
}

// untested returns an error for a missing unit test and for each missing kind of fixture. It also
// returns an error for each fixture whose name does not start with a kind.
func (r *ownRule) untested() (errs []error) {
	if _, err := os.Stat(strings.TrimSuffix(filepath.FromSlash(r.file), ".rego") + "_test.rego"); err != nil {
		errs = append(errs, fmt.Errorf("%s:1: rule %s has no unit tests; write them in %s_test.rego", r.file, r.ID, strings.TrimSuffix(r.file, ".rego")))
	}
	all, err := r.fixtures()
	if err != nil {
		return append(errs, err)
	}
	for _, kind := range caseNames {
		if !slices.ContainsFunc(all, func(f fixture) bool { return f.kind() == kind }) {
			errs = append(errs, fmt.Errorf("%s:1: rule %s has no fixture %s; put manifests into %s", r.file, r.ID, kind, filepath.ToSlash(filepath.Join(r.dir, "fixtures", kind))))
		}
	}
	for i := range all {
		f := &all[i]
		if f.kind() == "" {
			errs = append(errs, fmt.Errorf("%s: the name of a fixture starts with bad, good or unknown", filepath.ToSlash(f.dir)))
		}
		for _, p := range f.wanted() {
			errs = append(errs, fmt.Errorf("%s:%d: %s", filepath.ToSlash(filepath.Join(f.dir, p.File)), p.Line, p.Message))
		}
	}
	return errs
}

// Check loads the rules in the given folders and their subfolders, and returns the number of rules.
// The error "missing" lists missing unit tests and fixtures, unit tests that cannot fail, and good
// fixtures with findings. Vendored rules do not need any tests.
func Check(dirs []string) (n int, missing, err error) {
	own, err := ownRules(dirs)
	if err != nil {
		return 0, nil, err
	}
	var errs []error
	vendored := map[string]bool{}
	for _, r := range own {
		vendored[filepath.ToSlash(r.dir)] = r.vendored
		if !r.vendored {
			errs = append(errs, r.untested()...)
		}
	}
	idle, err := rego.IdleTests(rego.UnitOptions{Dirs: dirs})
	for _, t := range idle {
		if !vendored[path.Dir(t.File)] {
			errs = append(errs, fmt.Errorf("%s:%d: %s cannot fail, because it uses no rule and no library; compare what the rule reports", t.File, t.Line, t.Name))
		}
	}
	return len(own), errors.Join(errs...), err
}

// Docs returns a Markdown catalogue of the rules in the given folders and their subfolders.
func Docs(dirs []string) ([]byte, error) {
	engine, err := rego.Load(rego.Options{Dirs: dirs, Off: every})
	if err != nil {
		return nil, err
	}
	return rego.Catalogue(engine.All(), func(id string) string {
		own := ownRule{dir: filepath.Dir(filepath.FromSlash(engine.File(id)))}
		// The first bad fixture with exactly one file is the example.
		all, err := own.fixtures()
		if err != nil {
			return ""
		}
		for _, f := range all {
			if f.kind() == "bad" && len(f.files) == 1 {
				for _, text := range f.files {
					return string(text)
				}
			}
		}
		return ""
	}), nil
}

//go:embed all:scaffold
var scaffold embed.FS

// editorFiles returns the files that opa and Regal need to check rules: the schema of the facts, and
// the libraries that are otherwise part of this program. In a rule's METADATA, its own schema gives
// the types of the parameters, but opa does not know that schema, so they can be anything.
func editorFiles() ([]rego.BundleFile, error) {
	const root = `"properties": {`
	schema := bytes.Replace(facts.Schema(), []byte(root), []byte(root+"\n\t\t\"params\": {\n\t\t\t\"description\": \"The parameters of the rule.\"\n\t\t},"), 1)
	libraries, err := rego.Libraries()
	for i := range libraries {
		libraries[i].Name = rego.EditorDir + "/" + libraries[i].Name
	}
	return append(libraries, rego.BundleFile{Name: "schema/any.json", Text: []byte("{}\n")}, rego.BundleFile{Name: "schema/facts.json", Text: schema}), err
}

// New writes the scaffold of a rule with tests and fixtures, together with a configuration for
// editors. It overwrites files for editors that come from another version.
func New(out io.Writer, dir, id string) error {
	if err := rego.CheckID(id); err != nil {
		return err
	}
	home := filepath.Join(dir, id)
	if _, err := os.Lstat(home); err == nil {
		return fmt.Errorf("%s exists; choose another id, or remove it", filepath.ToSlash(home))
	}
	var said []string
	put := func(path string, text []byte) error {
		made, err := writeNew(path, text)
		if folder := filepath.Join(dir, rego.EditorDir); worktree.Inside(folder, path) {
			path = folder
		}
		if made {
			said = append(said, "wrote "+filepath.ToSlash(path))
		}
		return err
	}
	err := fs.WalkDir(scaffold, "scaffold", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scaffold.ReadFile(name)
		if err != nil {
			return err
		}
		path := filepath.Join(home, filepath.FromSlash(strings.TrimSuffix(strings.TrimPrefix(name, "scaffold/"), ".txt")))
		if name == "scaffold/regal.yaml" {
			path = filepath.Join(dir, ".regal", "config.yaml")
		}
		return put(path, withID(string(text), id))
	})
	forEditors, more := editorFiles()
	err = errors.Join(err, more)
	for _, f := range forEditors {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if is, readErr := os.ReadFile(path); err == nil && readErr == nil && !bytes.Equal(is, f.Text) { // of another version
			err = os.Remove(path)
		}
		if err == nil {
			err = put(path, f.Text)
		}
	}
	said = slices.Compact(said)
	hint := ""
	if err == nil {
		hint, err = configure(dir, "", put)
	}
	for _, line := range said {
		fmt.Fprintln(out, line)
	}
	if err == nil {
		fmt.Fprintf(out, "%snext: schedlint policy test %s\n", hint, filepath.ToSlash(dir))
	}
	return err
}

// withID fills in the id of a rule. In references, an id that is a word stands after a dot, as opa fmt
// writes it.
func withID(text, id string) []byte {
	if !strings.ContainsAny(id, "-.") && (id[0] < '0' || id[0] > '9') {
		text = strings.NewReplacer(`["@ID@"]`, ".@ID@", `["@ID@_test"]`, ".@ID@_test").Replace(text)
	}
	return []byte(strings.ReplaceAll(text, "@ID@", id))
}

// writeNew writes a file unless it already exists.
func writeNew(path string, text []byte) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(text)
	return true, errors.Join(err, f.Close())
}

// configure makes sure that the configuration lists a folder, unless dir is empty, and has further
// settings. If no configuration exists, it creates one. Otherwise, it returns a hint with the lines to
// add.
func configure(dir, settings string, put func(path string, text []byte) error) (hint string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	entry := settings
	if dir != "" {
		entry = fmt.Sprintf("policies:\n- dir: %s\n", filepath.ToSlash(dir)) + settings
	}
	if found := config.Find(here); found != "" {
		return fmt.Sprintf("add to %s, unless it is there:\n%s", filepath.ToSlash(worktree.Seen(here, found)), entry), nil
	}
	if filepath.IsAbs(dir) {
		return "", nil
	}
	return "", put(config.Name, []byte(entry))
}
