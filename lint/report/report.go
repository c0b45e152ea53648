package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Options say how to write; the zero value is the default.
type Options struct {
	// Color allows ANSI escape sequences. Only text uses them.
	Color bool
	// Quiet omits from text everything except findings and silences.
	Quiet bool
	// All shows every location of findings with equal rule and message in text and Markdown, which
	// otherwise show the first and count the others.
	All bool
	// Verbose lists in text the locations of skipped, unjudged or unknown input, which is otherwise
	// only counted.
	Verbose bool
	// Category distinguishes the runs of one tool in code scanning. Only sarif uses it. Without one
	// the file has none, because it would override the category that the upload action is given.
	Category string
}

// format is one row of the table of output formats.
type format struct {
	name  string
	write func(io.Writer, *diag.Report, Options) error
	// rules is set if the format reads Report.Rules.
	rules bool
}

// formats is the table.
var formats = []format{
	{"text", writeText, false},
	{"json", writeJSON, false},
	{"sarif", writeSARIF, true},
	{"github", writeGitHub, false},
	{"markdown", writeMarkdown, false},
	{"gitlab", writeGitLab, true},
	{"junit", writeJUnit, false},
}

// NeedsRules reports whether a format reads Report.Rules, which take time to gather.
func NeedsRules(format string) bool {
	for _, f := range formats {
		if f.name == format {
			return f.rules
		}
	}
	return false
}

// Formats names the output formats, the default first.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Write renders r to w in the named format. It fails if there is no such format, with an error that
// lists the formats, and if w fails.
func Write(w io.Writer, format string, r *diag.Report, opts Options) error {
	for _, f := range formats {
		if f.name != format {
			continue
		}
		if err := f.write(w, trimmed(r), opts); err != nil {
			return fmt.Errorf("writing %s: %w", format, err)
		}
		return nil
	}
	meant := ";"
	if near := diag.Within(format, Formats(), 2); near != "" {
		meant = fmt.Sprintf(", did you mean %q?", near)
	}
	return fmt.Errorf("unknown format %q%s formats are %s", format, meant, strings.Join(Formats(), ", "))
}
