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

// formats returns the table. It is a function so that callers cannot modify it.
func formats() []format {
	return []format{
		{"text", writeText, false},
		{"json", writeJSON, false},
		{"sarif", writeSARIF, true},
		{"github", writeGitHub, false},
		{"markdown", writeMarkdown, false},
		{"gitlab", writeGitLab, true},
		{"junit", writeJUnit, false},
	}
}

// NeedsRules reports whether a format reads Report.Rules, which take time to gather.
func NeedsRules(format string) bool {
	for _, f := range formats() {
		if f.name == format {
			return f.rules
		}
	}
	return false
}

// Formats names the output formats, the default first.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Write renders r to w in the named format. It fails if there is no such format, with an error that
// lists the formats, and if w fails.
func Write(w io.Writer, format string, r *diag.Report, opts Options) error {
	for _, f := range formats() {
		if f.name != format {
			continue
		}
		if err := f.write(w, trimmed(r), opts); err != nil {
			return fmt.Errorf("writing %s: %w", format, err)
		}
		return nil
	}
	return fmt.Errorf("unknown format %q%s formats are %s", format, suggestion(format), strings.Join(Formats(), ", "))
}

// suggestion returns the text that follows an unknown name: the format with a similar name, or else
// a semicolon.
func suggestion(name string) string {
	best, least := "", 3
	for _, f := range Formats() {
		if d := distance(strings.ToLower(name), f); d < least {
			best, least = f, d
		}
	}
	if best == "" {
		return ";"
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// distance returns the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
