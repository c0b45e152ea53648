package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
)

// Options configures the output. The zero value gives the default output.
type Options struct {
	// Color enables ANSI escape sequences. It affects only text.
	Color bool
	// Quiet limits text to findings, silences and failures.
	Quiet bool
	// All makes text and Markdown show every finding. By default, findings with the same rule,
	// level, message and details are shown once, with a count of the others.
	All bool
	// Verbose makes text and Markdown list the locations of input that was not checked completely.
	// By default, they show only the number of such locations.
	Verbose bool
	// Category distinguishes between several schedlint runs in code scanning. Only sarif uses it.
	// If Category is empty, the file has no category, and the category passed to the upload action
	// applies.
	Category string
}

// format is an output format.
type format struct {
	name  string
	write func(io.Writer, *diag.Report, Options) error
	// rules is set if the format uses Report.Rules.
	rules bool
}

// formats lists all output formats. The first one is the default.
var formats = []format{
	{"text", writeText, false},
	{"json", writeJSON, false},
	{"sarif", writeSARIF, true},
	{"github", writeGitHub, false},
	{"markdown", writeMarkdown, false},
	{"comment", writeComment, false},
	{"gitlab", writeGitLab, true},
	{"junit", writeJUnit, false},
}

// NeedsRules reports whether a format uses Report.Rules, which takes time to collect.
func NeedsRules(format string) bool {
	for _, f := range formats {
		if f.name == format {
			return f.rules
		}
	}
	return false
}

// Formats returns the names of all output formats. The first one is the default.
func Formats() []string {
	return lists.Of(formats, func(f format) string { return f.name })
}

// Write writes r to w in the named format. It returns an error if writing to w fails or if the
// format is unknown. The error for an unknown format lists all formats.
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
