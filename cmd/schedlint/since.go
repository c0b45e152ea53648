package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
)

// judged is one tree with what it was judged by.
type judged struct {
	options lint.Options
	engine  *rego.Engine
	report  *diag.Report
	from    *policySource // nil for the work tree
	// silences counts what the change brings that makes findings go away.
	silences int
}

// judge runs what options say by the rules of some directories. The report is
// there as soon as the rules could be loaded.
func judge(o lint.Options, own ruleSource, run func(lint.Options) (*diag.Report, error)) (*judged, error) {
	engine, err := loadRulesOf(own, o.Config)
	if err != nil {
		return nil, err
	}
	o.Policy, o.Level = engine, engine.Level
	r, err := run(o)
	r.Version = version
	return &judged{options: o, engine: engine, report: r}, err
}

// known refuses, before anything is judged, a revision that does not exist.
func (f *acceptFlags) known(o *lint.Options) error {
	switch {
	case f.since == "":
		return nil
	case slices.Contains(o.Paths, "-") || slices.Contains(o.Topology, "-"):
		return errors.New("--since: standard input belongs to no revision: name files or directories")
	}
	root, err := filepath.EvalSymlinks(o.Root)
	if err == nil {
		_, err = treeOf(root, f.since)
	}
	if err != nil {
		return fmt.Errorf("--since %s: %w", f.since, err)
	}
	return nil
}

// since leaves in what was judged only what has changed since a revision. What
// is wrong with git or with the revision is an error; what is wrong with the
// files of the revision makes everything new, as a change may fix them.
func (now *judged) since(ctx context.Context, f *lintFlags) error {
	t, err := now.unpack(f, f.accept.since)
	if err != nil {
		return fmt.Errorf("--since %s: %w", f.accept.since, err)
	}
	defer t.remove()
	before, err := t.judge(ctx, now, f)
	if err != nil {
		why := strings.ReplaceAll(t.clean(err.Error(), ""), "\n", "; ")
		now.report.Summary.Notes = append(now.report.Summary.Notes, fmt.Sprintf("%s cannot be checked, so all findings count as new: %s", f.accept.since, why))
	}
	for _, failed := range before.report.Failures {
		now.report.Summary.Notes = append(now.report.Summary.Notes, fmt.Sprintf("%s is checked only in part, so findings of what failed count as new: %s", f.accept.since, failed))
	}
	var silences []diag.Silence
	if now.from == nil { // else the change cannot say anything of these
		silences = slices.Concat(accept.Raised(now.options.Baseline, before.options.Baseline), now.loosened(before), now.altered(before))
	}
	accept.CompareWith(now.report, before.report, f.accept.since, silences)
	now.silences = len(now.report.Change.Silences)
	return nil
}

// unpack unpacks what of a revision can matter: manifests, and what the command
// line and the configuration name.
func (now *judged) unpack(f *lintFlags, revision string) (*tree, error) {
	root, err := filepath.EvalSymlinks(now.options.Root)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(now.options.Dir)
	if err != nil {
		return nil, err
	}
	tracked := map[string]bool{}
	names, err := gitFiles(root)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		tracked[name] = true
	}
	named := map[string]bool{}
	for _, path := range slices.Concat(now.options.Paths, now.named(f)) {
		if name, ok := (&tree{root: root}).inside(absolute(dir, path)); ok {
			named[filepath.ToSlash(name)] = true
		}
	}
	t, err := unpack(root, revision, func(name string) bool {
		return named[name] || len(now.options.Renders) > 0 || mayBeRead(name)
	})
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Concat(now.named(f), t.noRules(dir, slices.Concat(f.ruleDirs, now.options.Config.PolicyDirs()))) {
		path = absolute(dir, path)
		if name, ok := t.inside(path); ok && err == nil && !isDir(path) {
			err = t.adopt(name, tracked)
		}
	}
	if rel, ok := t.inside(dir); ok && err == nil {
		err = os.MkdirAll(filepath.Join(t.dir, rel), 0o755)
	}
	if err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

// mayBeRead reports whether a file is read although nobody names it: in
// directories, as part of rules or of charts, or to find where rendered manifests came from.
func mayBeRead(name string) bool {
	return path.Base(name) == "modules.txt" || slices.Contains([]string{".yaml", ".yml", ".json", ".rego", ".tpl", ".tgz", ".helmignore"}, strings.ToLower(filepath.Ext(name))) ||
		path.Base(name) == "Kustomization" || vendored.Keeps(name)
}

// noRules are the files of rules below those directories that the tree has not, with those
// that are locked with them.
func (t *tree) noRules(dir string, folders []string) (all []string) {
	for _, folder := range folders {
		folder = absolute(dir, folder)
		if name, ok := t.inside(folder); !ok || t.has(name) {
			continue
		}
		// what cannot be read is an error of whoever loads the rules
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && (filepath.Ext(path) == ".rego" || vendored.Home(filepath.Dir(path)) != "") {
				all = append(all, path)
			}
			return nil
		})
	}
	return all
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// named are the files beside manifests that the command line and the
// configuration name.
func (now *judged) named(f *lintFlags) []string {
	conf := now.options.Config
	names := slices.Concat(now.options.Topology, nonEmpty(f.config, f.accept.baseline))
	below := slices.Concat(conf.Topology, nonEmpty(conf.Baseline))
	for _, c := range conf.Clusters {
		below = append(below, c.Topology...)
	}
	for _, path := range below {
		names = append(names, absolute(conf.Dir, path))
	}
	return names
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// judge judges the tree as the work tree was, by its own files or those of a third
// revision. What the tree does not have was not there; what lies outside of the
// repository is no part of any revision.
func (t *tree) judge(ctx context.Context, now *judged, f *lintFlags) (*judged, error) {
	dir, err := filepath.EvalSymlinks(now.options.Dir)
	if err != nil {
		return t.nothing(now.options), err
	}
	o := t.options(now.options, dir)
	own := ruleSource{dirs: t.mapped(dir, f.ruleDirs)}
	if now.from != nil {
		own, err = now.from.rules, now.from.at(t, &o)
	} else {
		err = t.own(&o, dir, f, now.options.Config)
	}
	if err == nil {
		err = t.renders(&o, now, dir, f)
	}
	if err != nil || len(o.Paths)+len(o.Renders) == 0 {
		return t.nothing(o), err
	}
	before, err := judge(o, own, func(o lint.Options) (*diag.Report, error) { return lint.Run(ctx, o) })
	if errors.Is(err, lint.ErrNothing) {
		err = nil
	}
	if err != nil {
		return t.nothing(o), err
	}
	before.report.Display = func(file string) string {
		return filepath.ToSlash(seen(dir, filepath.Join(t.root, filepath.FromSlash(file))))
	}
	return before, nil
}

// renders sets what is rendered of the tree: what its configuration says, and what is
// found there.
func (t *tree) renders(o *lint.Options, now *judged, dir string, f *lintFlags) error {
	o.Renders, o.Renderer = nil, nil
	base := f.render
	base.dirs = t.mapped(dir, f.render.dirs)
	if err := base.apply(o, false); err != nil {
		return err
	}
	if len(now.options.Paths) == 0 {
		o.Paths = nil
	}
	return nil
}

// options are those of the work tree for the tree; dir is the working directory.
func (t *tree) options(o lint.Options, dir string) lint.Options {
	rel, _ := t.inside(dir)
	o.Dir, o.Root, o.Tracked, o.Stdin, o.Overlay = filepath.Join(t.dir, rel), t.dir, nil, nil, nil
	o.SourceRoot = strings.Join(t.mapped(dir, nonEmpty(o.SourceRoot)), "")
	o.Paths, o.Topology = t.mapped(dir, o.Paths), t.mapped(dir, o.Topology)
	return o
}

// own sets the configuration and the baseline of the tree.
func (t *tree) own(o *lint.Options, dir string, f *lintFlags, now *config.Config) (err error) {
	o.Baseline, o.Config = nil, &config.Config{}
	if o.Config, err = t.config(o.Dir, dir, f.config, now); err != nil {
		return err
	}
	if paths := t.mapped(dir, nonEmpty(f.accept.baseline)); len(paths) > 0 || o.Config.Baseline != "" {
		o.Baseline, err = loadBaseline(strings.Join(paths, ""), o.Config)
	}
	return err
}

// nothing is a tree without findings.
func (t *tree) nothing(o lint.Options) *judged {
	if o.Config == nil {
		o.Config = &config.Config{}
	}
	return &judged{options: o, report: &diag.Report{}}
}

// mapped are paths of the work tree as they are in the tree, those left out that
// it does not have.
func (t *tree) mapped(dir string, paths []string) []string {
	var all []string
	for _, path := range paths {
		abs := absolute(dir, path)
		name, ok := t.inside(abs)
		switch {
		case !ok:
			all = append(all, abs)
		case t.has(name):
			all = append(all, filepath.Join(t.dir, name))
		}
	}
	return all
}

// config is the configuration of the tree.
func (t *tree) config(at, dir, named string, now *config.Config) (*config.Config, error) {
	var path string
	if named != "" {
		path = strings.Join(t.mapped(dir, []string{named}), "")
	} else if path = config.Find(at); path != "" {
		if !worktree.Inside(t.dir, path) {
			path = "" // of whoever owns the directory for temporary files
		}
	}
	switch {
	case path != "" && named != "":
		return config.Load(path)
	case path != "":
		return config.LoadFound(path, t.dir)
	}
	if _, inside := t.inside(now.Dir); now.Dir != "" && !inside { // above the repository
		file, _ := now.Source()
		return now.At(t.dir, t.dir, file)
	}
	return &config.Config{}, nil
}

// loosened tells what the configuration says that makes findings go away.
func (now *judged) loosened(before *judged) []diag.Silence {
	conf := now.options.Config
	is, was := effective(now.engine, conf), effective(now.engine, before.options.Config)
	if before.engine != nil {
		was = effective(before.engine, before.options.Config)
	}
	all := conf.Loosened(before.options.Config, now.engine.IDs(), func(c *config.Config, id string) diag.Level {
		if c == conf {
			return is(id)
		}
		return was(id)
	})
	path, _ := conf.Source()
	if was, is := before.configName(), now.configName(); was != "" && is != "" && was != is {
		all = append(all, diag.Silence{Message: fmt.Sprintf("another configuration counts: %s instead of %s", is, was), Location: diag.Span{Line: 1, Column: 1, EndLine: 1, EndColumn: 2}})
	}
	for i := range all {
		if path == "" {
			all[i].Location = diag.Span{}
			continue
		}
		all[i].Location.File = now.configName()
	}
	return all
}

// configName is the configuration file as a name from the root; "" for none.
func (now *judged) configName() string {
	path, _ := now.options.Config.Source()
	if path == "" {
		return ""
	}
	return now.name(filepath.Join(now.options.Config.Dir, filepath.Base(path)))
}

// altered tells which rules of the team's own may find less.
func (now *judged) altered(before *judged) []diag.Silence {
	all := now.engine.Altered(before.engine)
	for i := range all {
		if at := &all[i].Location; !at.IsZero() {
			at.File = now.name(at.File)
		}
	}
	return all
}

// name is a path as a name from the root.
func (now *judged) name(path string) string {
	return filepath.ToSlash(seen(now.options.Root, absolute(now.options.Dir, path)))
}
