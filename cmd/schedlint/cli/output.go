package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/worktree"
)

// output is an output format and the file to write it to. An empty path means standard output.
type output struct{ format, path string }

// outputs pairs formats with files in flag order. A --format flag can name its own file. Otherwise,
// --output applies to the preceding --format, or to the next one if --output comes first.
type outputs []output

// add adds the flags that set formats and files.
func (o *outputs) add(flags *pflag.FlagSet, words []string) {
	flags.Var(value{kind: "string", words: words, set: func(s string) error {
		word, path, named := strings.Cut(s, "=")
		if err := oneOf(word, words); err != nil {
			return err
		}
		if named && path == "" {
			return errors.New("expected a file name after =")
		}
		if last := len(*o) - 1; !named && last >= 0 && (*o)[last].format == "" {
			(*o)[last].format = word
			return nil
		}
		*o = append(*o, output{word, path})
		return nil
	}}, "format", "output `format[=file]`: "+strings.Join(words, ", ")+" (default text; repeatable, at most one to standard output)")
	flags.Var(value{kind: "string", set: func(s string) error {
		if s == "" {
			return errors.New("expected a file name")
		}
		if last := len(*o) - 1; last >= 0 && (*o)[last].path == "" && (*o)[last].format != "" {
			(*o)[last].path = s
			return nil
		}
		*o = append(*o, output{path: s})
		return nil
	}}, "output", "`file` for the preceding --format (default: standard output)")
}

// check returns an error if two outputs go to the same place. If there are no outputs, it adds one:
// text on standard output.
func (o *outputs) check() error {
	if len(*o) == 0 {
		*o = outputs{{}}
	}
	seen := map[string]bool{}
	for i := range *o {
		out := &(*o)[i]
		out.format = cmp.Or(out.format, report.Formats()[0])
		if out.path == "-" {
			out.path = ""
		}
		place := "standard output"
		if out.path != "" {
			place = filepath.Clean(out.path)
		}
		if seen[place] {
			return fmt.Errorf("two formats go to %s: give each its own file, as in --format %s=FILE", place, out.format)
		}
		seen[place] = true
	}
	return nil
}

// has reports whether any output has a format that meets the condition.
func (o outputs) has(condition func(format string) bool) bool {
	return slices.ContainsFunc(o, func(out output) bool { return condition(out.format) })
}

// tell prints failures to standard error, so that the log shows them even if all outputs are files.
// It prints nothing if standard output already shows the failures in readable form.
func (o outputs) tell(stderr io.Writer, failures diag.Failures) {
	told := slices.ContainsFunc(o, func(out output) bool {
		return out.path == "" && slices.Contains([]string{"text", "github", "markdown"}, out.format)
	})
	if told {
		return
	}
	printFailures(stderr, failures)
}

// printFailures writes one line per failure.
func printFailures(w io.Writer, failures diag.Failures) {
	for _, line := range report.Incomplete(failures) {
		fmt.Fprintln(w, "schedlint:", line)
	}
}

// write writes all outputs as they are rendered, because one can be large. If one of them fails, it
// still writes the others.
func (o outputs) write(stdout io.Writer, render func(w io.Writer, format string, color bool) error) error {
	var errs []error
	for _, out := range o {
		var err error
		if out.path == "" {
			w := bufio.NewWriter(stdout)
			err = cmp.Or(render(w, out.format, colour(stdout)), w.Flush())
		} else {
			err = worktree.WriteFile(out.path, func(w io.Writer) error { return render(w, out.format, false) })
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("writing %s: %w", out.format, err))
		}
	}
	return errors.Join(errs...)
}

// colour reports whether w is a terminal that supports color (no-color.org).
func colour(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && terminal(w) }

// terminal reports whether w is a terminal that understands escape sequences.
func terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != "null"
}
