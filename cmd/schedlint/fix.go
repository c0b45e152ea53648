package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Values of --fix.
const (
	fixWrite = "write"
	fixDiff  = "diff"
)

// diffOnly reserves standard output for the diff.
func (f *lintFlags) diffOnly() error {
	if f.fix != fixDiff {
		return nil
	}
	for _, out := range f.outputs {
		if out.path == "" && out.format != "text" {
			return fmt.Errorf("--fix=diff: the diff goes to standard output: give %s a file, as in --format %s=FILE", out.format, out.format)
		}
	}
	f.outputs = slices.DeleteFunc(f.outputs, func(out output) bool { return out.path == "" })
	return nil
}

// run lints and, with --fix, applies edits. With --fix=diff the report describes the files as they
// are, otherwise the files after the edits.
func (f *lintFlags) run(cmd *cobra.Command, o lint.Options) (r *diag.Report, differs bool, err error) {
	if f.fix == "" {
		r, err = lint.Run(cmd.Context(), o)
		return r, false, err
	}
	fixed, err := lint.Fix(cmd.Context(), o)
	if err != nil {
		return fixed.Before, false, err
	}
	if f.fix == fixDiff {
		tell(cmd.ErrOrStderr(), fixed, "%s for %s, not written", fixed.Files)
		var out bytes.Buffer
		for _, f := range fixed.Files {
			unified(&out, filepath.ToSlash(worktree.Seen(worktree.Real(o.Dir), f.Path)), f.Before, f.After)
		}
		if _, err = cmd.OutOrStdout().Write(out.Bytes()); err != nil {
			err = fmt.Errorf("writing the diff: %w", err)
		}
		return fixed.Before, len(fixed.Files) > 0, err
	}
	written, err := writeFiles(o.Dir, fixed.Files)
	tell(cmd.ErrOrStderr(), fixed, "%s written in %s", written)
	r, leftErr := fixed.Left(func(name string) bool {
		return slices.ContainsFunc(written, func(m lint.FixedFile) bool { return m.Name == name })
	})
	return r, false, errors.Join(err, leftErr)
}

// writeFiles writes the files that it can, and returns an error about each of the others, with its
// name relative to dir.
func writeFiles(dir string, files []lint.FixedFile) (written []lint.FixedFile, err error) {
	dir = worktree.Real(dir)
	var errs []error
	for _, f := range files {
		if err := worktree.ReplaceFile(f.Path, f.Before, f.After); err != nil {
			shown := worktree.Seen(dir, f.Path)
			var link *worktree.LinkError
			if errors.As(err, &link) {
				err = fmt.Errorf("%s: %w", filepath.ToSlash(shown), err)
			}
			errs = append(errs, fmt.Errorf("--fix: %w", worktree.Named(err, shown)))
			continue
		}
		written = append(written, f)
	}
	return written, errors.Join(errs...)
}

// tell prints the numbers of edits and files, and lists the edits that are not made.
func tell(w io.Writer, m *lint.Fixed, format string, files []lint.FixedFile) {
	edits := 0
	for _, f := range files {
		edits += len(f.Edits)
	}
	fmt.Fprintf(w, "schedlint: "+format+"\n", report.Count(edits, "edit"), report.Count(len(files), "file"))
	for _, h := range m.Withheld {
		at := h.Edit.Location
		fmt.Fprintf(w, "schedlint: %s:%d:%d: %s is not written: %s\n", report.Visible(m.Before.Display(at.File)), at.Line, at.Column, report.Visible(strings.Trim(h.Edit.NewText, `"'`)), report.Visible(h.Why))
	}
}
