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

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Inline returns the suppressions in manifests that are in effect, and those in all other files
// below the root, from which rendered manifests may come. The error names what could not be
// read.
func Inline(ctx context.Context, o Options) ([]diag.Suppression, error) {
	r := newRun(ctx, o, nil)
	r.suppressions.gather(r.load())
	r.failures.fail(r.suppressions.scanRemaining())
	r.failures.errs = slices.DeleteFunc(r.failures.errs, func(err error) bool { return errors.Is(err, ErrNothing) })
	var all []diag.Suppression
	for _, s := range r.suppressions.inEffect() {
		if s.By != diag.ByConfiguration {
			all = append(all, s)
		}
	}
	return all, r.failures.err()
}

// maxComments is the maximum size in bytes of a file that is searched for comments.
const maxComments = 64 << 20

// mayHaveComments lists the extensions of manifests, values files and templates.
var mayHaveComments = map[string]bool{".yaml": true, ".yml": true, ".tpl": true}

// scanRemaining adds the comments of files that are not among the manifests.
func (s *suppressions) scanRemaining() error {
	seen := s.scannedSet()
	root, err := os.OpenRoot(s.files.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		ext := strings.ToLower(filepath.Ext(name))
		if err != nil || seen[name] || !d.Type().IsRegular() || !mayHaveComments[ext] {
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
