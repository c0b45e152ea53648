package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
)

// Request holds the command-line settings of a run, with paths as the user wrote them.
type Request struct {
	Config, Baseline string
	RuleDirs         []string
	// Since is the revision to compare with, and ConfigFrom is the revision whose policy applies.
	// Either may be empty.
	Since, ConfigFrom string
	Render            inputs.Choice
}

// Judged is a checked tree with the rules and options that were used.
type Judged struct {
	Engine *rego.Engine
	Report *diag.Report
	// From is the revision whose policy applies, or nil if the tree's own policy applies.
	From *From
	// Silences counts the parts of the change that silence findings.
	Silences int
	options  lint.Options
}

// Judge loads the rules and judges a tree by calling the argument "run" with the options in o. If
// the rules fail to load, it returns nil and an error.
func Judge(o lint.Options, own policy.Source, run func(lint.Options) (*diag.Report, error)) (*Judged, error) {
	engine, err := policy.Load(own, o.Config)
	if err != nil {
		return nil, err
	}
	o.Policy, o.Level = engine, engine.Level
	r, err := run(o)
	return &Judged{options: o, Engine: engine, Report: r}, err
}

// Known returns an error if the Since revision does not exist. Call it before judging anything.
func (r *Request) Known(o *lint.Options) error {
	switch {
	case r.Since == "":
		return nil
	case slices.Contains(o.Paths, "-") || slices.Contains(o.Topology, "-"):
		return errors.New("--since: standard input belongs to no revision: name files or directories")
	}
	root, err := filepath.EvalSymlinks(o.Root)
	if err == nil {
		_, err = revision.ID(root, r.Since)
	}
	if err != nil {
		return fmt.Errorf("--since %s: %w", r.Since, err)
	}
	return nil
}

// Since compares the report with that of an earlier revision and keeps only the new findings.
func (now *Judged) Since(ctx context.Context, r *Request) error {
	t, err := r.unpack(now.options, r.Since)
	if err != nil {
		return fmt.Errorf("--since %s: %w", r.Since, err)
	}
	defer t.Remove()
	before, err := t.judge(ctx, now, r)
	notes := &now.Report.Summary.Notes
	if err != nil {
		why := strings.ReplaceAll(t.Clean(err.Error(), ""), "\n", "; ")
		*notes = append(*notes, fmt.Sprintf("%s cannot be checked, so all findings count as new: %s", r.Since, why))
	}
	for _, failed := range before.Report.Failures {
		*notes = append(*notes, fmt.Sprintf("%s is checked only in part, so findings of what failed count as new: %s", r.Since, failed))
	}
	var silences []diag.Silence
	if now.From == nil { // with --config-from, the change cannot alter these
		altered := now.Engine.Altered(before.Engine)
		for i := range altered {
			if at := &altered[i].Location; !at.IsZero() {
				at.File = now.name(at.File)
			}
		}
		silences = slices.Concat(accept.Raised(now.options.Baseline, before.options.Baseline), now.loosened(before), altered,
			notVendored(&now.options, &before.options, nil), otherCopies(&now.options, &before.options))
	} else {
		silences = notVendored(&now.options, &before.options, now.From.inert)
	}
	nodes := now.nodes(ctx, r.Since, before)
	accept.CompareWith(now.Report, before.Report, r.Since, silences)
	now.Report.Change.Nodes = nodes
	if err != nil {
		now.Report.Change.Before = nil
	} else if err := now.takenOver(ctx, t, before); err != nil {
		return fmt.Errorf("--since %s: %w", r.Since, err)
	}
	now.Silences = len(now.Report.Change.Silences)
	return nil
}

// maxGone is the maximum number of findings to list that go with a change of nodes.
const maxGone = 20

// nodes returns the changes of nodes and the findings that go with them.
func (now *Judged) nodes(ctx context.Context, since string, before *Judged) []diag.Silence {
	all := now.options.Seen.Changes(before.options.Seen)
	if len(all) == 0 {
		return nil
	}
	o := now.options
	o.Seen, o.Given, o.Progress = nil, before.options.Seen, nil
	then, err := lint.Run(ctx, o)
	d := accept.Since(then.Diagnostics, now.Report.Diagnostics, now.Report.Accepted, nil)
	if come := len(d.Introduced); err == nil && come > 0 {
		now.Report.Summary.Notes = append(now.Report.Summary.Notes, fmt.Sprintf("findings that the change of nodes adds: %d", come))
	}
	var rows []diag.Silence
	seen := map[diag.Silence]bool{}
	for _, d := range slices.Concat(d.Fixed, d.Undecided) {
		one := diag.Silence{Message: fmt.Sprintf("without the change of nodes: %s [%s]", d.Message, d.Rule), Location: d.Location}
		if !seen[one] { // another render may have the same finding
			seen[one], rows = true, append(rows, one)
		}
	}
	if more := len(rows) - maxGone; more > 0 {
		rows = append(rows[:maxGone], diag.Silence{Message: fmt.Sprintf("without the change of nodes: %d more findings", more)})
	}
	if (err != nil || !then.Complete()) && now.Report.Complete() {
		rows = append(rows, diag.Silence{Message: "the check with the nodes of " + since + " is incomplete, so the change of nodes may remove more findings"})
	}
	return append(all, rows...)
}

// loosened returns the configuration changes that make findings disappear.
func (now *Judged) loosened(before *Judged) []diag.Silence {
	conf, old := now.options.Config, before.options.Config
	all := conf.Loosened(old, now.Engine.IDs(), func(c *config.Config, id string) diag.Level {
		if c == conf {
			return policy.Effective(now.Engine, conf, id)
		}
		return policy.Effective(cmp.Or(before.Engine, now.Engine), old, id)
	})
	is, was := now.configName(), before.configName()
	if was != "" && is != "" && was != is {
		all = append(all, diag.Silence{Message: fmt.Sprintf("another configuration counts: %s instead of %s", is, was), Location: diag.Span{Line: 1, Column: 1, EndLine: 1, EndColumn: 2}})
	}
	for i := range all {
		if is == "" {
			all[i].Location = diag.Span{}
			continue
		}
		all[i].Location.File = is
	}
	return all
}

// notVendored returns a silence for each pointer that was rendered before and now wants something
// from another repository without having a copy of it. It leaves out what the silences in told name.
func notVendored(now, before *lint.Options, told []diag.Silence) (all []diag.Silence) {
	for _, u := range now.Unfollowed {
		was := func(x lint.Render) bool {
			return !x.Pointer.IsZero() && x.PointerName == u.Name && x.Pointer.File == u.File
		}
		wanted := pointers.Masked(u.Wanted)
		if wanted == "" || u.Suspended || u.Wrong || !slices.ContainsFunc(before.Renders, was) ||
			slices.ContainsFunc(told, func(s diag.Silence) bool { return strings.HasPrefix(s.Message, wanted+" is new ") }) {
			continue
		}
		at := diag.Span{File: u.File, Line: u.Line, Column: u.Column, EndLine: u.Line, EndColumn: u.Column + 1}
		all = append(all, diag.Silence{Message: fmt.Sprintf("%s %s is no longer rendered, because it needs a copy of %s: %s", u.Kind, u.Name, wanted, diag.Vendor), Location: at})
	}
	return all
}

// otherCopies returns a silence for each file that the lock resolves to the same version as before
// and that has another digest.
func otherCopies(now, before *lint.Options) (all []diag.Silence) {
	for _, l := range now.Libraries {
		for _, e := range l.Entries {
			for _, old := range before.Libraries {
				was, ok := old.Find(e.Name)
				if ok && old.Folder == l.Folder && was.Resolved == e.Resolved && was.SHA256 != e.SHA256 && !e.OfCommit() {
					at := diag.Span{File: path.Join(l.Folder, thirdparty.LockName), Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
					all = append(all, diag.Silence{Message: fmt.Sprintf("another copy of %s, which is still %s, is rendered", pointers.Masked(e.Name), e.Resolved), Location: at})
				}
			}
		}
	}
	return all
}

// configName returns the configuration file's name relative to the root, or "" if there is no
// configuration.
func (now *Judged) configName() string {
	path, _ := now.options.Config.Source()
	if path == "" {
		return ""
	}
	return now.name(filepath.Join(now.options.Config.Dir, filepath.Base(path)))
}

// name makes a path relative to the root.
func (now *Judged) name(path string) string {
	return filepath.ToSlash(worktree.Seen(now.options.Root, worktree.Absolute(now.options.Dir, path)))
}

// tree holds the files of a revision, unpacked into a temporary directory.
type tree struct{ *revision.Tree }

// unpack unpacks the files that a run on the revision may read: manifests, and any files named by
// the command line or the configuration.
func (r *Request) unpack(o lint.Options, id string) (*tree, error) {
	root, err := filepath.EvalSymlinks(o.Root)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return nil, err
	}
	names, err := revision.Files(root)
	if err != nil {
		return nil, err
	}
	tracked := lists.Set(names)
	files := r.named(&o)
	named := map[string]bool{}
	for _, path := range slices.Concat(o.Paths, files) {
		if name, ok := revision.Inside(root, worktree.Absolute(dir, path)); ok {
			named[filepath.ToSlash(name)] = true
		}
	}
	unpacked, err := revision.Unpack(root, id, func(name string) bool {
		return named[name] || len(o.Renders) > 0 || mayBeRead(name) || strings.Contains("/"+name, "/"+cmp.Or(o.Config.Vendor, thirdparty.Dir)+"/")
	})
	if err != nil {
		return nil, err
	}
	t := &tree{unpacked}
	for _, path := range slices.Concat(files, t.noRules(dir, slices.Concat(r.RuleDirs, o.Config.PolicyDirs()))) {
		path = worktree.Absolute(dir, path)
		if name, ok := revision.Inside(root, path); ok && err == nil && !worktree.IsDir(path) {
			err = t.Adopt(name, tracked)
		}
	}
	if rel, ok := revision.Inside(root, dir); ok && err == nil {
		err = os.MkdirAll(filepath.Join(t.Dir, rel), 0o755)
	}
	if err != nil {
		t.Remove()
		return nil, err
	}
	return t, nil
}

// mayBeRead reports whether a run may read a file that no option names. Such files are manifests,
// parts of rules and charts, and sources of renders.
func mayBeRead(name string) bool {
	return path.Base(name) == "modules.txt" || slices.Contains([]string{".yaml", ".yml", ".json", ".rego", ".tpl", ".tgz", ".helmignore"}, strings.ToLower(filepath.Ext(name))) ||
		path.Base(name) == "Kustomization" || vendored.Keeps(name)
}

// noRules returns the rule files and lock files in folders that exist in the work tree but not in
// the revision.
func (t *tree) noRules(dir string, folders []string) (all []string) {
	for _, folder := range folders {
		folder = worktree.Absolute(dir, folder)
		if name, ok := revision.Inside(t.Root, folder); !ok || t.Has(name) {
			continue
		}
		// Ignore errors here, because loading the rules reports unreadable files.
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && (filepath.Ext(path) == ".rego" || vendored.Home(filepath.Dir(path)) != "") {
				all = append(all, path)
			}
			return nil
		})
	}
	return all
}

// named returns the files named by the command line and the configuration, excluding manifests.
func (r *Request) named(o *lint.Options) []string {
	names := slices.Concat(o.Topology, nonEmpty(r.Config, r.Baseline))
	below := slices.Concat(o.Config.Topology, nonEmpty(o.Config.Baseline))
	for _, c := range o.Config.Clusters {
		below = append(below, c.Topology...)
	}
	for _, path := range below {
		names = append(names, worktree.Absolute(o.Config.Dir, path))
	}
	return names
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// judge judges the files of an earlier revision with the same options as the work tree. It applies
// the configuration and baseline of that revision. With --config-from, it applies those of a third
// revision. If a file is missing from the tree, the file did not exist at that time. Files outside
// the repository do not belong to any revision.
func (t *tree) judge(ctx context.Context, now *Judged, r *Request) (*Judged, error) {
	o := now.options
	dir, err := filepath.EvalSymlinks(o.Dir)
	own := policy.Source{Dirs: t.Mapped(dir, r.RuleDirs)}
	if err == nil {
		o = t.options(o, dir)
		if now.From != nil {
			own, err = now.From.Rules, now.From.at(t, &o)
		} else {
			err = t.own(&o, dir, r)
		}
	}
	if err == nil {
		err = t.renders(ctx, &o, len(now.options.Paths) == 0, dir, r)
	}
	if err == nil && len(o.Paths)+len(o.Renders) > 0 {
		var before *Judged
		before, err = Judge(o, own, func(o lint.Options) (*diag.Report, error) { return lint.Run(ctx, o) })
		if err == nil || errors.Is(err, lint.ErrNothing) {
			before.Report.Display = func(file string) string {
				return filepath.ToSlash(worktree.Seen(dir, filepath.Join(t.Root, filepath.FromSlash(file))))
			}
			return before, nil
		}
	}
	o.Config = cmp.Or(o.Config, &config.Config{})
	return &Judged{options: o, Report: &diag.Report{}}, err
}

// renders selects the renders of the tree: those that its configuration names and those found in
// the tree.
func (t *tree) renders(ctx context.Context, o *lint.Options, pathless bool, dir string, r *Request) error {
	o.Renders, o.Renderer = nil, nil
	base := r.Render
	base.Dirs = t.Mapped(dir, r.Render.Dirs)
	if err := base.Apply(ctx, o, false); err != nil {
		return err
	}
	if pathless {
		o.Paths = nil
	}
	return nil
}

// options adapts the options for the work tree to t. The argument dir is the working directory.
func (t *tree) options(o lint.Options, dir string) lint.Options {
	rel, _ := revision.Inside(t.Root, dir)
	o.Dir, o.Root, o.Tracked, o.Stdin, o.Overlay = filepath.Join(t.Dir, rel), t.Dir, nil, nil, nil
	o.SourceRoot = strings.Join(t.Mapped(dir, nonEmpty(o.SourceRoot)), "")
	o.Paths, o.Topology = t.Mapped(dir, o.Paths), t.Mapped(dir, o.Topology)
	if o.Seen != nil {
		o.Seen = lint.SeenNodes{}
	}
	o.Placements = false // a run fails on those of the work tree
	return o
}

// own applies the tree's own configuration and baseline to the options.
func (t *tree) own(o *lint.Options, dir string, r *Request) (err error) {
	now := o.Config
	o.Baseline, o.Config = nil, &config.Config{}
	if o.Config, err = t.config(o.Dir, dir, r.Config, now); err != nil {
		return err
	}
	if paths := t.Mapped(dir, nonEmpty(r.Baseline)); len(paths) > 0 || o.Config.Baseline != "" {
		o.Baseline, err = LoadBaseline(strings.Join(paths, ""), o.Config)
	}
	if b := o.Baseline; b != nil { // reports name it as in the work tree
		b.Path = worktree.Seen(o.Dir, worktree.Absolute(dir, b.Path))
	}
	return err
}

// config returns the tree's configuration.
func (t *tree) config(at, dir, named string, now *config.Config) (*config.Config, error) {
	if named != "" {
		if path := strings.Join(t.Mapped(dir, []string{named}), ""); path != "" {
			return config.Load(path)
		}
	} else if path := config.Find(at); path != "" && worktree.Inside(t.Dir, path) { // ignore a configuration above the tree: others may own that directory
		return config.LoadFound(path, t.Dir)
	}
	if _, inside := revision.Inside(t.Root, now.Dir); now.Dir != "" && !inside { // the configuration is above the repository
		file, _ := now.Source()
		return now.At(t.Dir, t.Dir, file)
	}
	return &config.Config{}, nil
}
