package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/worktree"
)

// ruleSource are the folders with rules of the team's own, and how they are named
// in errors; nil for as they are.
type ruleSource struct {
	dirs  []string
	shown func(dir string) string
	// listed keeps rules that are off.
	listed bool
}

// policySource is a revision whose configuration, baseline and own rules count in
// place of those of the work tree.
type policySource struct {
	revision string
	tree     *tree
	dir      string // the working directory, without symbolic links
	inTree   *config.Config
	baseline *accept.Baseline
	rules    ruleSource
	notes    []string
}

// from sets what a revision says in the options of a run on the work tree.
func (f *lintFlags) from(o *lint.Options) (*policySource, error) {
	s := &policySource{revision: f.accept.configFrom}
	err := s.open(f, o)
	if err == nil {
		err = s.setBaseline(f, o)
	}
	if err == nil {
		s.setRules(f)
		return s, nil
	}
	err = s.clean(err)
	s.remove()
	return nil, fmt.Errorf("--config-from %s: %w", s.revision, err)
}

// remove removes the tree. There may be none.
func (s *policySource) remove() {
	if s != nil && s.tree != nil {
		s.tree.remove()
	}
}

// open unpacks the tree and reads its configuration. What that names is known only
// after the configuration itself is unpacked.
func (s *policySource) open(f *lintFlags, o *lint.Options) (err error) {
	root, err := filepath.EvalSymlinks(o.Root)
	if err == nil {
		s.dir, err = filepath.EvalSymlinks(o.Dir)
	}
	if err != nil {
		return err
	}
	named, _ := (&tree{root: root}).inside(absolute(s.dir, f.config))
	s.tree, err = unpack(root, s.revision, func(name string) bool {
		return path.Base(name) == config.Name || f.config != "" && name == filepath.ToSlash(named)
	})
	if err != nil {
		return err
	}
	if err = s.setConfig(f, o); err != nil {
		return err
	}
	all, err := (&judged{options: *o}).unpack(f, s.revision)
	if err != nil {
		return err
	}
	s.tree.remove()
	s.tree, s.notes = all, nil
	if err := s.setConfig(f, o); err != nil {
		return err
	}
	s.widen(f, o.Config)
	return nil
}

// widen renders what the work tree asks for beyond what the revision does: that shows more,
// and hides nothing.
func (s *policySource) widen(f *lintFlags, conf *config.Config) {
	change, err := loadConfig(f.config)
	switch {
	case conf.Discovers():
	case err != nil:
		s.note("what the work tree adds to renders is not known: its configuration cannot be read")
	case change.Dir == conf.Dir:
		for _, name := range conf.Widen(change) {
			s.note("the change no longer names %s under renders: it is rendered all the same", name)
		}
	}
}

// setConfig reads the configuration of the tree and puts it where it would be in
// the work tree, with the files that it names there.
func (s *policySource) setConfig(f *lintFlags, o *lint.Options) error {
	rel, _ := s.tree.inside(s.dir)
	conf, err := s.tree.config(filepath.Join(s.tree.dir, rel), s.dir, f.config, &config.Config{})
	if err != nil {
		return err
	}
	s.inTree, o.Config = conf, conf
	file, text := conf.Source()
	if file == "" {
		return s.noConfig(f, o)
	}
	if rel, ok := worktree.Below(s.tree.dir, conf.Dir); ok {
		name := filepath.Join(rel, filepath.Base(file))
		o.Config, err = conf.At(filepath.Join(s.tree.root, rel), s.tree.root, s.shown(name, text))
	}
	return err
}

// noConfig takes a configuration above the repository, which belongs to no revision,
// where the tree has none.
func (s *policySource) noConfig(f *lintFlags, o *lint.Options) (err error) {
	if f.config != "" {
		s.note("%s has no configuration %s: the default counts", s.revision, f.config)
		return nil
	}
	if here := config.Find(s.dir); here != "" {
		if worktree.Inside(s.tree.root, here) {
			s.note("%s of the work tree does not count: %s has none", filepath.ToSlash(seen(s.dir, here)), s.revision)
		}
	}
	if above := config.Find(filepath.Dir(s.tree.root)); above != "" {
		o.Config, err = config.LoadFound(seen(s.dir, above), "")
	}
	return err
}

// setBaseline reads the baseline of the tree.
func (s *policySource) setBaseline(f *lintFlags, o *lint.Options) (err error) {
	paths := s.tree.mapped(s.dir, nonEmpty(f.accept.baseline))
	if f.accept.baseline != "" && len(paths) == 0 {
		s.note("%s has no baseline %s: it accepts nothing", s.revision, f.accept.baseline)
		return nil
	}
	conf := s.inTree
	if !worktree.Inside(s.tree.dir, conf.Dir) {
		conf = o.Config
	}
	b, err := loadBaseline(strings.Join(paths, ""), conf)
	if err != nil || b == nil {
		return err
	}
	if name, ok := worktree.Below(s.tree.dir, absolute(o.Dir, b.Path)); ok {
		b.Path = s.shown(name, b.Text)
	}
	s.baseline, o.Baseline = b, b
	return nil
}

// setRules finds the rules of the tree.
func (s *policySource) setRules(f *lintFlags) {
	for _, dir := range f.ruleDirs {
		in := s.tree.mapped(s.dir, []string{dir})
		if len(in) == 0 {
			s.note("%s has no rules in %s: none of them runs", s.revision, dir)
		}
		s.rules.dirs = append(s.rules.dirs, in...)
	}
	s.rules.shown = func(dir string) string {
		if name, ok := worktree.Below(s.tree.dir, dir); ok {
			return s.revision + ":" + filepath.ToSlash(name)
		}
		return dir
	}
}

func (s *policySource) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// shown is how outputs name a file of the tree: as that of the work tree if both are
// the same, as its lines are those of the revision.
func (s *policySource) shown(name string, text []byte) string {
	here := seen(s.dir, filepath.Join(s.tree.root, name))
	now, err := worktree.ReadFile(s.tree.root, name, int64(len(text)))
	if err == nil && bytes.Equal(now, text) {
		return here
	}
	s.note("%s counts as in %s, not as in the work tree", filepath.ToSlash(here), s.revision)
	return filepath.Join(filepath.Dir(here), path.Base(s.revision)+":"+filepath.Base(here))
}

// clean names files of the tree as git does.
func (s *policySource) clean(err error) error {
	if err == nil || s.tree == nil {
		return err
	}
	text := s.tree.clean(err.Error(), s.revision+":")
	if text == err.Error() {
		return err
	}
	var errs []error
	for line := range strings.Lines(text) {
		errs = append(errs, errors.New(strings.TrimRight(line, "\n")))
	}
	return errors.Join(errs...)
}

// admit lets only those suppressions in manifests count that the revision has, as written and
// in its own renders: those of the work tree have the annotations of the change.
func (s *policySource) admit(ctx context.Context, o *lint.Options, f *lintFlags) {
	o.OnlyKnown = true
	of := s.tree.options(*o, s.dir)
	of.Config, of.Baseline, of.OnlyKnown = s.inTree, nil, false
	err := s.tree.renders(&of, &judged{options: *o}, s.dir, f)
	known, unread := lint.Inline(ctx, of)
	if err = errors.Join(err, unread); err != nil {
		s.note("not all suppressions of %s are known: %s", s.revision, strings.ReplaceAll(s.clean(err).Error(), "\n", "; "))
	}
	o.Known = known
}

// at is what the revision says, for the tree of another one.
func (s *policySource) at(t *tree, o *lint.Options) (err error) {
	o.Baseline = nil
	if s.baseline != nil {
		b := *s.baseline
		o.Baseline = &b
	}
	if name, ok := t.inside(o.Config.Dir); ok && o.Config.Dir != "" {
		file, _ := o.Config.Source()
		o.Config, err = o.Config.At(filepath.Join(t.dir, name), t.dir, file)
	}
	return err
}

// announce tells of what does not count: where a change is reported, among what it
// brings, or else in notes.
func (s *policySource) announce(r *diag.Report) {
	notes := &r.Summary.Notes
	*notes = append(*notes, s.notes...)
	inert := accept.Inert(r, s.revision)
	if r.Change != nil {
		r.Change.Silences = append(r.Change.Silences, inert...)
		return
	}
	for _, silence := range inert[:min(len(inert), maxInert)] {
		at := silence.Location
		*notes = append(*notes, fmt.Sprintf("%s:%d:%d: %s", r.Display(at.File), at.Line, at.Column, silence.Message))
	}
	if more := len(inert) - maxInert; more > 0 {
		*notes = append(*notes, plural(more, "more suppression")+" not in "+s.revision+", which do not count")
	}
}

// maxInert is how many suppressions that do not count are told one by one.
const maxInert = 20
