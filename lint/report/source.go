package report

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// sources reads the files that spans name, and splits each once.
type sources struct {
	read  func(file string) []byte
	files map[string]*file
}

func newSources(r *diag.Report) *sources {
	return &sources{read: r.Source, files: map[string]*file{}}
}

// file returns nil if the report does not bring the bytes.
func (s *sources) file(name string) *file {
	f, known := s.files[name]
	if !known && s.read != nil && name != "" {
		if text := s.read(name); text != nil {
			f = newFile(string(text))
		}
		s.files[name] = f
	}
	return f
}

// file is the text of one file and the offset of each of its lines.
type file struct {
	text   string
	starts []int
	hashes func() []lineHash
	// marks are the offsets of every markEvery runes in long lines, by line: a line may have as
	// many findings as words.
	marks map[int][]int
}

// newFile splits at LF and CRLF, like the spans of a source.File, git and the diff of a pull
// request. A lone CR is part of its line. GitHub's upload action treats it as a line break, so its
// hashes would be those of other lines, and such a text has none.
func newFile(text string) *file {
	f := &file{text: text, starts: []int{0}, marks: map[int][]int{}}
	f.hashes = sync.OnceValue(func() []lineHash {
		if strings.Count(text, "\r") != strings.Count(text, "\r\n") {
			return nil
		}
		return lineHashes(text)
	})
	for i := range len(text) {
		if text[i] == '\n' {
			f.starts = append(f.starts, i+1)
		}
	}
	return f
}

// line returns the text of line n, counted from 1, without its break and without a byte order mark,
// which the YAML decoder does not count as a column.
func (f *file) line(n int) (string, bool) {
	if f == nil || n < 1 || n > len(f.starts) {
		return "", false
	}
	end := len(f.text)
	if n < len(f.starts) {
		end = f.starts[n]
	}
	line := strings.TrimRight(f.text[f.starts[n-1]:end], "\r\n")
	if n == 1 {
		line = strings.TrimPrefix(line, "\ufeff")
	}
	return line, true
}

// hash returns the value of primaryLocationLineHash for line n, or "".
func (f *file) hash(n int) string {
	if f == nil {
		return ""
	}
	hashes := f.hashes()
	if n < 1 || n > len(hashes) {
		return ""
	}
	return hashes[n-1].String()
}

// Long lines are cut to window cells, at most lead of them before the caret.
const (
	window = 120
	lead   = 40
	cut    = "..."
)

// snippet is one line of source and the marks that go below it.
type snippet struct{ text, marks string }

// snippet renders the first line of a span; false if there is no such line.
func (s *sources) snippet(span diag.Span) (snippet, bool) {
	f := s.file(span.File)
	line, ok := f.line(span.Line)
	if !ok {
		return snippet{}, false
	}
	at, end := f.underlined(line, span)
	line = strings.TrimRight(line, " \t")
	at, end = min(at, len(line)), min(end, len(line))
	start := windowStart(line, at)
	stop := advance(line, start, window)
	before, indent := render(line, start, at)
	after, _ := render(line, at, stop)
	_, under := render(line, at, min(end, stop))
	if start > 0 {
		before, indent = cut+before, len(cut)+indent
	}
	if stop < len(line) {
		after += cut
	}
	marks := strings.Repeat(" ", indent) + "^" + strings.Repeat("~", max(0, under-1))
	return snippet{before + after, marks}, true
}

// underlined returns the bytes of line that the span covers: to the end of the line if the span
// continues below, and never outside of the line.
func (f *file) underlined(line string, span diag.Span) (at, end int) {
	at = f.offset(span.Line, line, span.Column-1)
	switch {
	case span.EndLine > span.Line:
		return at, len(line)
	case span.EndColumn > span.Column:
		return at, f.offset(span.Line, line, span.EndColumn-1)
	}
	return at, at
}

// markEvery is the number of runes between two marks of a long line.
const markEvery = 1024

// offset returns the offset in bytes of rune n of a line with a number.
func (f *file) offset(number int, line string, n int) int {
	if len(line) < 2*markEvery || n < markEvery {
		return runeOffset(line, n)
	}
	marks := f.marks[number]
	for len(marks) == 0 || marks[len(marks)-1] < len(line) {
		if marks == nil {
			marks = []int{0}
		}
		last := marks[len(marks)-1]
		marks = append(marks, last+runeOffset(line[last:], markEvery))
	}
	f.marks[number] = marks
	k := min(n/markEvery, len(marks)-1)
	return marks[k] + runeOffset(line[marks[k]:], n-k*markEvery)
}

// runeOffset returns the offset in bytes of rune n of s, at most the length of s.
func runeOffset(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// windowStart returns the offset at which to begin printing so that at is shown.
func windowStart(line string, at int) int {
	if advance(line, 0, window) == len(line) {
		return 0
	}
	start := at
	for room := lead; start > 0; {
		_, size := utf8.DecodeLastRuneInString(line[:start])
		_, _, cells := cell(line, start-size)
		if room -= cells; room < 0 {
			break
		}
		start -= size
	}
	return start
}

// advance returns the offset up to which line fits into room cells from start.
func advance(line string, start, room int) int {
	for start < len(line) {
		_, size, cells := cell(line, start)
		if room -= cells; room < 0 {
			break
		}
		start += size
	}
	return start
}

// render returns line[start:stop] as printed, and its width in cells.
func render(line string, start, stop int) (text string, cells int) {
	var b strings.Builder
	for start < stop {
		text, size, n := cell(line, start)
		b.WriteString(text)
		cells += n
		start += size
	}
	return b.String(), cells
}
