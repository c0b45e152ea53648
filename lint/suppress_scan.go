package lint

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// add adds a suppression of a manifest, unless only others count: then it is
// noted. One that would accept nothing is added all the same, to be complained of.
func (s *suppressions) add(one accept.Suppression) {
	if s.allowed != nil && !s.opts.NoInline && one.Holds(s.acceptance()) && !s.isAllowed(&one) {
		return
	}
	s.inline[one.Start] = append(s.inline[one.Start], len(s.all))
	s.all = append(s.all, one)
}

// written tells suppressions apart by where they are written: several renders may contain
// one of them.
func written(s *accept.Suppression) diag.Suppression {
	return diag.Suppression{Acceptance: diag.Acceptance{By: s.By, Location: s.Location}, Rule: s.Rule}
}

// isAllowed reports whether a suppression is among those that count. What several
// renders contain is asked once.
func (s *suppressions) isAllowed(one *accept.Suppression) bool {
	key := written(one)
	allowed, known := s.permitted[key]
	if !known {
		allowed = s.allowed.Take(one.Suppression)
		s.permitted[key] = allowed
		if !allowed {
			s.inert = append(s.inert, one.Suppression)
		}
	}
	return allowed
}

func (s *suppressions) acceptance() accept.Options {
	return accept.Options{Today: s.opts.Today, Rules: s.opts.Policy.IDs()}
}

// Inline gives the suppressions in manifests that hold, with those in files below
// the root that rendered manifests may come from. What cannot be read has none, and
// is told by the error.
func Inline(ctx context.Context, o Options) ([]diag.Suppression, error) {
	r := newRun(ctx, o, nil)
	r.suppressions.gather(r.load())
	r.failures.fail(r.suppressions.unscanned())
	r.failures.errs = slices.DeleteFunc(r.failures.errs, func(err error) bool { return errors.Is(err, ErrNothing) })
	var all []diag.Suppression
	for _, s := range r.suppressions.holding() {
		if s.By != diag.ByConfiguration {
			all = append(all, s)
		}
	}
	return all, r.failures.err()
}

// holding are the suppressions that accept what they are about, each once however many
// renders contain it.
func (s *suppressions) holding() (all []diag.Suppression) {
	seen := map[diag.Suppression]bool{}
	for i := range s.all {
		one := &s.all[i]
		if key := written(one); one.Holds(s.acceptance()) && (!seen[key] || one.By == diag.ByConfiguration) {
			seen[key] = true
			all = append(all, one.Suppression)
		}
	}
	return all
}

// maxComments is how many bytes a file may have in which comments are looked for.
const maxComments = 64 << 20

// unscanned takes in the comments of files that are not among the manifests.
func (s *suppressions) unscanned() error {
	seen := s.read()
	root, err := os.OpenRoot(s.files.root)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		ext := strings.ToLower(filepath.Ext(name))
		if err != nil || seen[name] || !d.Type().IsRegular() || ext != ".yaml" && ext != ".yml" {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > maxComments {
			return err
		}
		text, err := fs.ReadFile(root.FS(), name)
		if err == nil && bytes.Contains(text, []byte("schedlint:ignore")) {
			s.comments(source.NewFile(name, name, text), nil)
		}
		return err
	})
}

// Inert tells of the suppressions that a run found and that did not count.
func Inert(r *diag.Report, revision string) []diag.Silence {
	var all []diag.Silence
	for _, s := range r.Inert {
		all = append(all, diag.Silence{Message: silenced(s) + " (no effect: " + revision + " does not have it)", Location: s.Location})
	}
	return all
}
