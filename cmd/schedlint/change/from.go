package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/cmd/schedlint/policy"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/worktree"
)

// From is a revision whose configuration, baseline, custom rules and lock of copies replace those of
// the work tree.
type From struct {
	Rules policy.Source
	// Library has the revision's lock, which may be empty.
	Library  *thirdparty.Library
	revision string
	tree     *tree
	dir      string // working directory, without symbolic links
	inTree   *config.Config
	baseline *accept.Baseline
	notes    []string
	inert    []diag.Silence
	// before holds the options for judging the revision. raw and acting are as in its report. They are
	// set by Admit.
	before lint.Options
	raw    []string
	acting []diag.Object
}

// From applies the settings of the ConfigFrom revision to the options of a run on the work tree.
// The caller must call Remove on the result.
func (r *Request) From(o *lint.Options) (*From, error) {
	s := &From{revision: r.ConfigFrom}
	err := s.open(r, o)
	if err == nil {
		err = s.setBaseline(r, o)
	}
	if err == nil {
		err = s.setLibrary(o)
	}
	if err != nil {
		err = s.Clean(err)
		s.Remove()
		return nil, fmt.Errorf("--config-from %s: %w", s.revision, err)
	}
	for _, dir := range r.RuleDirs {
		in := s.tree.Mapped(s.dir, []string{dir})
		if len(in) == 0 {
			s.note("%s has no rules in %s: none of them runs", s.revision, dir)
		}
		s.Rules.Dirs = append(s.Rules.Dirs, in...)
	}
	s.Rules.Shown = func(dir string) string {
		if name, ok := worktree.Below(s.tree.Dir, dir); ok {
			return s.revision + ":" + filepath.ToSlash(name)
		}
		return dir
	}
	return s, nil
}

// Remove deletes the unpacked tree, if there is one.
func (s *From) Remove() {
	if s != nil && s.tree != nil {
		s.tree.Remove()
	}
}

// open unpacks the tree and reads its configuration. It then unpacks the tree again with the files
// that the configuration names.
func (s *From) open(r *Request, o *lint.Options) error {
	root, err := filepath.EvalSymlinks(o.Root)
	if err == nil {
		s.dir, err = filepath.EvalSymlinks(o.Dir)
	}
	if err != nil {
		return err
	}
	named, _ := revision.Inside(root, worktree.Absolute(s.dir, r.Config))
	only, err := revision.Unpack(root, s.revision, func(name string) bool {
		return path.Base(name) == config.Name || r.Config != "" && name == filepath.ToSlash(named)
	})
	if err != nil {
		return err
	}
	s.tree = &tree{only}
	if err = s.setConfig(r, o); err != nil {
		return err
	}
	all, err := r.unpack(*o, s.revision)
	if err != nil {
		return err
	}
	s.tree.Remove()
	s.tree, s.notes = all, nil
	if err := s.setConfig(r, o); err != nil {
		return err
	}
	// Renders that only the work tree names can add findings. What they hide, TakenOver reports.
	added, err := config.Choose(r.Config)
	switch {
	case o.Config.Discovers():
	case err != nil:
		s.note("what the work tree adds to renders is not known: its configuration cannot be read")
	case added.Dir == o.Config.Dir:
		for _, name := range o.Config.Widen(added) {
			s.note("the change no longer names %s under renders: it is rendered all the same", name)
		}
	}
	// Node files come from the tree if it has them, and else from where they are.
	before, conf := s.notes, *o.Config
	conf.Topology, conf.Clusters = s.nodes(conf.Dir, conf.Topology), slices.Clone(conf.Clusters)
	for i := range conf.Clusters {
		conf.Clusters[i].Topology = s.nodes(conf.Dir, conf.Clusters[i].Topology)
	}
	if o.Config = &conf; len(o.Topology) > 0 { // they replace those of the configuration
		s.notes = before
		o.Topology = s.nodes(s.dir, o.Topology)
	}
	o.Tree = source.Tree{Dir: s.tree.Dir, Display: func(name string) string {
		_, as := s.named(name)
		return as
	}}
	return nil
}

// nodes returns the paths at which to read node files. The paths are relative to dir.
func (s *From) nodes(dir string, paths []string) (all []string) {
	for _, path := range paths {
		abs := worktree.Absolute(dir, path)
		name, inside := revision.Inside(s.tree.Root, abs)
		switch {
		case path == "-":
		case !inside:
			s.note("%s is outside the repository and is read as it is", path)
		case !s.tree.Has(name):
			s.note("%s is not in %s: it counts as in the work tree", filepath.ToSlash(path), s.revision)
		default:
			s.shown(name)
			path = filepath.Join(s.tree.Dir, name)
		}
		all = append(all, path)
	}
	return all
}

// setConfig reads the tree's configuration. The paths in the configuration are resolved as if it
// were in the work tree. If the tree has no configuration, a configuration above the repository
// applies, because it does not belong to any revision.
func (s *From) setConfig(r *Request, o *lint.Options) error {
	rel, _ := revision.Inside(s.tree.Root, s.dir)
	conf, err := s.tree.config(filepath.Join(s.tree.Dir, rel), s.dir, r.Config, &config.Config{})
	if err != nil {
		return err
	}
	s.inTree, o.Config = conf, conf
	if file, _ := conf.Source(); file != "" {
		if rel, ok := worktree.Below(s.tree.Dir, conf.Dir); ok {
			name := filepath.Join(rel, filepath.Base(file))
			o.Config, err = conf.At(filepath.Join(s.tree.Root, rel), s.tree.Root, s.shown(name))
		}
		return err
	}
	if r.Config != "" {
		s.note("%s has no configuration %s: the default counts", s.revision, r.Config)
		return nil
	}
	if here := config.Find(s.dir); here != "" && worktree.Inside(s.tree.Root, here) {
		s.note("%s of the work tree does not count: %s has none", filepath.ToSlash(worktree.Seen(s.dir, here)), s.revision)
	}
	if above := config.Find(filepath.Dir(s.tree.Root)); above != "" {
		o.Config, err = config.LoadFound(worktree.Seen(s.dir, above), "")
	}
	return err
}

func (s *From) setBaseline(r *Request, o *lint.Options) (err error) {
	paths := s.tree.Mapped(s.dir, nonEmpty(r.Baseline))
	if r.Baseline != "" && len(paths) == 0 {
		s.note("%s has no baseline %s: it accepts nothing", s.revision, r.Baseline)
		return nil
	}
	conf := s.inTree
	if !worktree.Inside(s.tree.Dir, conf.Dir) {
		conf = o.Config
	}
	b, err := LoadBaseline(strings.Join(paths, ""), conf)
	if err != nil || b == nil {
		return err
	}
	if name, ok := worktree.Below(s.tree.Dir, worktree.Absolute(o.Dir, b.Path)); ok {
		b.Path = s.shown(name)
	}
	s.baseline, o.Baseline = b, b
	return nil
}

// setLibrary reads the tree's lock. It lists the entries that only the work tree's lock has.
func (s *From) setLibrary(o *lint.Options) error {
	was, err := s.inTree.Library(s.tree.Dir)
	if err != nil {
		return err
	}
	if s.Library = (&thirdparty.Library{Lock: thirdparty.New(nil)}).At("", s.revision); was != nil {
		s.Library = was.At("", s.revision)
	}
	is, err := o.Config.Library(s.tree.Root)
	if err != nil {
		s.note("the copies of the change do not count: %v", err)
	}
	if is == nil {
		return nil
	}
	lock := diag.Span{File: path.Join(is.Folder, thirdparty.LockName), Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
	for _, e := range is.Entries {
		if _, ok := s.Library.Find(e.Name); !ok {
			s.inert = append(s.inert, diag.Silence{Message: fmt.Sprintf("%s is new in the lock (no effect: %s does not have it)", pointers.Masked(e.Name), s.revision), Location: lock})
		}
	}
	return nil
}

func (s *From) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// shown returns the name to print for a file in the tree. It notes that the file counts if that of
// the work tree differs.
func (s *From) shown(name string) string {
	here, as := s.named(name)
	if here != as {
		s.note("%s counts as in %s, not as in the work tree", filepath.ToSlash(here), s.revision)
	}
	return as
}

// named returns the name of a file in the work tree, and the name to print for it in the tree. If
// the files are not the same, the latter includes the revision, because line numbers refer to the
// revision's copy.
func (s *From) named(name string) (here, as string) {
	here = worktree.Seen(s.dir, filepath.Join(s.tree.Root, name))
	was, err := worktree.ReadFile(s.tree.Dir, name, maxFile)
	now, missing := worktree.ReadFile(s.tree.Root, name, int64(len(was)))
	if err == nil && missing == nil && bytes.Equal(now, was) {
		return here, here
	}
	return here, filepath.Join(filepath.Dir(here), path.Base(s.revision)+":"+filepath.Base(here))
}

// Clean replaces the paths of unpacked files in an error with git's revision:path notation.
func (s *From) Clean(err error) error {
	if err == nil || s.tree == nil {
		return err
	}
	text := s.tree.Clean(err.Error(), s.revision+":")
	if text == err.Error() {
		return err
	}
	var errs []error
	for line := range strings.Lines(text) {
		errs = append(errs, errors.New(strings.TrimRight(line, "\n")))
	}
	return errors.Join(errs...)
}

// Admit restricts suppressions in manifests to those that exist in the revision's files or in
// renders of its files. It ignores renders of the work tree, because the change may have added
// annotations to them.
func (s *From) Admit(ctx context.Context, o *lint.Options, r *Request) {
	o.OnlyKnown = true
	of := s.tree.options(*o, s.dir)
	of.Config, of.Baseline, of.OnlyKnown, of.Tree = s.inTree, nil, false, source.Tree{}
	err := s.tree.renders(ctx, &of, len(o.Paths) == 0, s.dir, r)
	if r.Since == "" { // otherwise, the comparison lists them
		s.inert = append(s.inert, notVendored(o, &of, s.inert)...)
	}
	known, raw, acting, unread := lint.Inline(ctx, of)
	s.before, s.raw, s.acting = of, raw, acting
	if err = errors.Join(err, unread); err != nil {
		s.note("not all suppressions of %s are known: %s", s.revision, strings.ReplaceAll(s.Clean(err).Error(), "\n", "; "))
	}
	o.Known = known
}

// at applies the configuration and baseline of s to the options for judging another revision.
func (s *From) at(t *tree, o *lint.Options) (err error) {
	o.Baseline = nil
	if s.baseline != nil {
		b := *s.baseline
		o.Baseline = &b
	}
	if name, ok := revision.Inside(t.Root, o.Config.Dir); ok && o.Config.Dir != "" {
		file, _ := o.Config.Source()
		o.Config, err = o.Config.At(filepath.Join(t.Dir, name), t.Dir, file)
	}
	return err
}

// maxInert is the maximum number of ineffective suppressions to list.
const maxInert = 20

// Announce reports the suppressions and copies that have no effect. It adds them to the change's silences if
// the report describes a change, and to the notes otherwise.
func (s *From) Announce(r *diag.Report) {
	notes := &r.Summary.Notes
	*notes = append(*notes, s.notes...)
	inert := slices.Concat(accept.Inert(r, s.revision), s.inert)
	if r.Change != nil {
		r.Change.Silences = append(r.Change.Silences, inert...)
		return
	}
	for _, silence := range inert[:min(len(inert), maxInert)] {
		at := silence.Location
		*notes = append(*notes, fmt.Sprintf("%s:%d:%d: %s", r.Display(at.File), at.Line, at.Column, silence.Message))
	}
	if more := len(inert) - maxInert; more > 0 {
		*notes = append(*notes, fmt.Sprintf("and %d more not in %s, which do not count", more, s.revision))
	}
}

// LoadBaseline reads the baseline at path. If path is empty, it reads the baseline named in the
// configuration. It returns nil if there is no baseline.
func LoadBaseline(path string, conf *config.Config) (b *accept.Baseline, err error) {
	switch {
	case path != "":
		b, err = ReadBaseline(path)
	case conf.Baseline != "":
		path = worktree.Here(worktree.Absolute(conf.Dir, conf.Baseline))
		var text []byte
		if text, err = conf.Read(conf.Baseline); err == nil {
			b, err = accept.ReadBaseline(path, text)
		}
	default:
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the baseline: %s: there is no such file; --write-baseline makes one", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return b, nil
}

// maxFile is the maximum size in bytes of a file that flags or the configuration name.
const maxFile = 64 << 20

// ReadBaseline reads a baseline. The user gave its path, so the path is trusted.
func ReadBaseline(path string) (*accept.Baseline, error) {
	text, err := worktree.ReadTrusted(path, maxFile)
	if err != nil {
		return nil, err
	}
	return accept.ReadBaseline(path, text)
}
