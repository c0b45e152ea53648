package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/worktree"
)

// The possible values of --fix.
const (
	fixWrite = "write"
	fixDiff  = "diff"
)

// run checks the manifests and applies edits if --fix is set. The report describes the files after
// the edits. With --fix=diff, the files are not written, and the report describes the files before
// the edits.
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
			unified(&out, filepath.ToSlash(worktree.Seen(worktree.Resolved(o.Dir), f.Path)), f.Before, f.After)
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

// writeFiles writes files. If a file cannot be written, it continues with the next file. The error
// lists all files that could not be written, with names relative to dir.
func writeFiles(dir string, files []lint.FixedFile) (written []lint.FixedFile, err error) {
	dir = worktree.Resolved(dir)
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

// tell prints how many edits were made in how many files, and lists the edits that were withheld.
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

// around is the number of context lines before and after a change.
const around = 3

// unified writes a unified diff between two texts with the same number of lines. It omits the "diff
// --git" line, because git would then resolve the path relative to the root of the work tree.
func unified(out *bytes.Buffer, path string, before, after []byte) {
	was, is := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	if last := len(was) - 1; len(was[last]) == 0 { // the text ends with a line break
		was, is = was[:last], is[:last]
	}
	fmt.Fprintf(out, "--- %s\n+++ %s\n", header("a/"+path), header("b/"+path))
	var changed []int // indices of the changed lines
	for i := range was {
		if !bytes.Equal(was[i], is[i]) {
			changed = append(changed, i)
		}
	}
	for len(changed) > 0 {
		n := 1 // changes whose contexts touch or overlap share a hunk
		for n < len(changed) && changed[n]-changed[n-1] <= 2*around+1 {
			n++
		}
		hunk(out, was, is, max(0, changed[0]-around), min(len(was), changed[n-1]+around+1))
		changed = changed[n:]
	}
}

// hunk writes a range of lines. In each run of changed lines, the old lines come first.
func hunk(out *bytes.Buffer, was, is [][]byte, start, end int) {
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", start+1, end-start, start+1, end-start)
	for i := start; i < end; {
		if bytes.Equal(was[i], is[i]) {
			line(out, ' ', was[i])
			i++
			continue
		}
		from := i
		for ; i < end && !bytes.Equal(was[i], is[i]); i++ {
			line(out, '-', was[i])
		}
		for _, text := range is[from:i] {
			line(out, '+', text)
		}
	}
}

func line(out *bytes.Buffer, sign byte, text []byte) {
	out.WriteByte(sign)
	out.Write(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		out.WriteString("\n\\ No newline at end of file\n")
	}
}

// header returns a path in a form that git and patch accept. It quotes a path with control
// characters, quotes or backslashes. It adds a tab after a path with spaces. Without the tab, git
// and patch may read the text after a space as a date.
func header(path string) string {
	odd := func(r rune) bool { return unicode.IsControl(r) || r == '"' || r == '\\' }
	switch {
	case strings.ContainsFunc(path, odd):
		// git and patch both accept a quoted C string with octal escapes.
		var b strings.Builder
		for _, c := range []byte(path) {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				fmt.Fprintf(&b, `\%03o`, c)
			} else {
				b.WriteByte(c)
			}
		}
		return `"` + b.String() + `"`
	case strings.Contains(path, " "):
		return path + "\t"
	}
	return path
}
