package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// Options configures the output. The zero value is the default.
type Options struct {
	// Color enables ANSI escape sequences. It affects only text.
	Color bool
	// Quiet limits text to findings, silences and failures.
	Quiet bool
	// All makes text and Markdown show every finding. Otherwise, they show the first of several
	// findings with the same rule, level, message and details, and count the others.
	All bool
	// Verbose makes text and Markdown list skipped, unjudged and unknown input with locations.
	// Otherwise, they only count it.
	Verbose bool
	// Category distinguishes several runs of schedlint in code scanning. It affects only sarif. If
	// it is empty, the file has no category, because it would override the category that is passed
	// to the upload action.
	Category string
}

// format is an output format.
type format struct {
	name  string
	write func(io.Writer, *diag.Report, Options) error
	// rules is set if the format reads Report.Rules.
	rules bool
}

// formats lists all output formats, the default first.
var formats = []format{
	{"text", writeText, false},
	{"json", writeJSON, false},
	{"sarif", writeSARIF, true},
	{"github", writeGitHub, false},
	{"markdown", writeMarkdown, false},
	{"gitlab", writeGitLab, true},
	{"junit", writeJUnit, false},
}

// NeedsRules reports whether a format reads Report.Rules, which take time to collect.
func NeedsRules(format string) bool {
	for _, f := range formats {
		if f.name == format {
			return f.rules
		}
	}
	return false
}

// Formats returns the names of all output formats, the default first.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Write writes r to w in the named format. It returns an error if w fails, or if the format is
// unknown. The error for an unknown format lists all formats.
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
