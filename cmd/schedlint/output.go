package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
)

// output is one format and where it goes; an empty path is standard output.
type output struct{ format, path string }

// outputs pairs formats with files in the order in which the flags come: an
// --output belongs to the --format before it, or to the next one.
type outputs []output

type formatFlag struct{ to *outputs }
type outputFlag struct{ to *outputs }

var _, _ pflag.Value = formatFlag{}, outputFlag{}

func (formatFlag) String() string { return "" }
func (formatFlag) Type() string   { return "string" }
func (f formatFlag) Set(s string) error {
	if err := oneOf(s, report.Formats()); err != nil {
		return err
	}
	if last := len(*f.to) - 1; last >= 0 && (*f.to)[last].format == "" {
		(*f.to)[last].format = s
		return nil
	}
	*f.to = append(*f.to, output{format: s})
	return nil
}

func (outputFlag) String() string { return "" }
func (outputFlag) Type() string   { return "string" }
func (f outputFlag) Set(s string) error {
	if s == "" {
		return errors.New("expected a file name")
	}
	if last := len(*f.to) - 1; last >= 0 && (*f.to)[last].path == "" && (*f.to)[last].format != "" {
		(*f.to)[last].path = s
		return nil
	}
	*f.to = append(*f.to, output{path: s})
	return nil
}

// check refuses two outputs to one place; none at all is text.
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
			return fmt.Errorf("two formats go to %s: give each its own --output", place)
		}
		seen[place] = true
	}
	return nil
}

// needRules reports whether some format lists all rules.
func (o outputs) needRules() bool {
	return slices.ContainsFunc(o, func(out output) bool { return out.format == "sarif" })
}

// write renders the report once for every output; one that fails does not
// keep the others from being written.
func (o outputs) write(r *diag.Report, stdout io.Writer) error {
	var errs []error
	for _, out := range o {
		var buf bytes.Buffer
		err := report.Write(&buf, out.format, r, report.Options{Color: out.path == "" && colour(stdout)})
		if err == nil && out.path == "" {
			_, err = stdout.Write(buf.Bytes())
		} else if err == nil {
			err = os.WriteFile(out.path, buf.Bytes(), 0o644)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("writing %s: %w", out.format, err))
		}
	}
	return errors.Join(errs...)
}

// colour reports whether the writer is a terminal that wants colour
// (no-color.org).
func colour(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != "null"
}
