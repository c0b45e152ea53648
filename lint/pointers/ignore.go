package pointers

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/limits"
)

// Ignored are the patterns by which Flux leaves files out of a Git repository, in the
// language of .gitignore. The last one that matches counts, also for a file in a
// directory that another one leaves out (fluxcd/pkg: sourceignore).
type Ignored struct {
	patterns []pattern
	// Over is set if there are more than limits.IgnorePatterns.
	Over bool
}

type pattern struct {
	glob                  string
	keeps, rooted, inside bool // inside: matches only what is in such a directory
}

// NewIgnored reads patterns, one on a line; those of later texts win.
func NewIgnored(texts ...string) *Ignored {
	i := &Ignored{}
	for line := range strings.Lines(strings.Join(texts, "\n")) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if len(i.patterns) >= limits.IgnorePatterns {
			i.Over = true
			break
		}
		var p pattern
		line, p.keeps = strings.CutPrefix(line, "!")
		line, p.inside = strings.CutSuffix(line, "/")
		p.rooted = strings.Contains(line, "/")
		p.glob = strings.TrimPrefix(line, "/")
		i.patterns = append(i.patterns, p)
	}
	return i
}

// Len is the number of patterns.
func (i *Ignored) Len() int { return len(i.patterns) }

// File reports whether a file is left out, by its name from the root.
func (i *Ignored) File(name string) bool {
	for _, p := range slices.Backward(i.patterns) {
		for at := range len(name) + 1 { // the file, and the directories that it is in
			if at < len(name) && name[at] != '/' || at == len(name) && p.inside {
				continue
			}
			one := name[:at]
			if !p.rooted {
				one = path.Base(one)
			}
			if ok, err := doublestar.Match(p.glob, one); ok && err == nil {
				return !p.keeps
			}
		}
	}
	return false
}
