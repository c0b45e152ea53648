package source

import (
	"bytes"
	"sort"

	"github.com/schedlint/schedlint/lint/lazy"
)

// branching is a comment with an action of a template that begins or ends a branch: the
// text is YAML as it stands, and another one after the template was executed.
var branching = lazy.Regexp(`^[ \t]*#.*(?:\{\{-?[ \t]*(?:if|else|end|range|with)\b|\{%-?[ \t]*(?:if|el(?:se|if)|endif|for|endfor)\b)`)

// branches are the lines of such comments in a text.
type branches struct {
	text  []byte
	lines []int32
	found bool
}

// between reports whether one of the comments stands between two lines of the text.
func (b *branches) between(first, second int32) bool {
	if b == nil {
		return false
	}
	if !b.found {
		b.found = true
		if bytes.Contains(b.text, []byte("{{")) || bytes.Contains(b.text, []byte("{%")) {
			n := int32(0)
			for line := range bytes.Lines(b.text) {
				if n++; branching().Match(line) {
					b.lines = append(b.lines, n)
				}
			}
		}
	}
	i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i] > first })
	return i < len(b.lines) && b.lines[i] < second
}
