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

// about adds a suppression of a manifest, unless only others count: then it is
// noted. One that would accept nothing is added all the same, to be complained of.
func (r *run) about(s accept.Suppression) {
	if r.allowed != nil && !r.NoInline && s.Holds(r.acceptance()) && !r.isAllowed(&s) {
		return
	}
	at := &r.suppressions
	at.inline[s.Home] = append(at.inline[s.Home], len(at.all))
	at.all = append(at.all, s)
}

// isAllowed reports whether a suppression is among those that count. What several
// renders contain is asked once.
func (r *run) isAllowed(s *accept.Suppression) bool {
	key := diag.Suppression{Acceptance: diag.Acceptance{By: s.By, Location: s.Location}, Rule: s.Rule}
	allowed, known := r.permitted[key]
	if !known {
		allowed = r.allowed.Take(s.Suppression)
		r.permitted[key] = allowed
		if !allowed {
			r.report.Inert = append(r.report.Inert, s.Suppression)
		}
	}
	return allowed
}

func (r *run) acceptance() accept.Options {
	return accept.Options{Today: r.Today, Rules: r.Policy.IDs()}
}

// Inline gives the suppressions in manifests that hold, with those in files below
// the root that rendered manifests may come from. What cannot be read has none, and
// is told by the error.
func Inline(ctx context.Context, o Options) ([]diag.Suppression, error) {
	r := newRun(ctx, o, nil)
	r.load()
	r.gather()
	seen := map[string]bool{}
	for _, name := range r.scanned {
		seen[name] = true
	}
	err := r.unscanned(seen)
	r.errs = slices.DeleteFunc(r.errs, func(err error) bool { return errors.Is(err, ErrNothing) })
	var all []diag.Suppression
	for _, s := range r.holding() {
		if s.By != diag.ByConfiguration {
			all = append(all, s)
		}
	}
	return all, errors.Join(append(distinct(r.errs), err)...)
}

// holding are the suppressions that accept what they are about, each once however many
// renders contain it.
func (r *run) holding() (all []diag.Suppression) {
	seen := map[diag.Suppression]bool{}
	for i := range r.suppressions.all {
		s := &r.suppressions.all[i]
		key := diag.Suppression{Acceptance: diag.Acceptance{By: s.By, Location: s.Location}, Rule: s.Rule}
		if s.Holds(r.acceptance()) && (!seen[key] || s.By == diag.ByConfiguration) {
			seen[key] = true
			all = append(all, s.Suppression)
		}
	}
	return all
}

// maxComments is how many bytes a file may have in which comments are looked for.
const maxComments = 64 << 20

// unscanned takes in the comments of files that are not among the manifests.
func (r *run) unscanned(seen map[string]bool) error {
	root, err := os.OpenRoot(r.Root)
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
			r.comments(source.NewFile(name, name, text), nil)
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
