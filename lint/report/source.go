package report

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// sources reads the files that spans refer to. It splits each file into lines only once.
type sources struct {
	read  func(file string) []byte
	files map[string]*file
}

func newSources(r *diag.Report) *sources {
	return &sources{read: r.Source, files: map[string]*file{}}
}

// file returns a file, or nil if the report does not include its contents.
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

// file holds the text of a file and the offset where each line starts.
type file struct {
	text   string
	starts []int
	hashes func() []lineHash
	// marks speeds up finding a rune in a long line, because a long line may have thousands of
	// findings. It maps the line number to the byte offset of every markEvery-th rune.
	marks map[int][]int
}

// newFile splits text into lines at LF and CRLF. git, pull request diffs and the spans of a
// source.File use the same line breaks. GitHub's upload action also splits lines at a lone CR. A
// file with a lone CR therefore gets no hashes.
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

// line returns the text of line n, excluding its line break. Lines are counted from 1. It removes a
// byte order mark, which the YAML decoder does not count as a column.
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

// hash returns the primaryLocationLineHash of line n, or "" if there is none.
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

// window is the maximum width of a source line in cells. A longer line is cut. At most "lead" cells
// then remain before the caret.
const (
	window = 120
	lead   = 40
	cut    = "..."
)

// snippet is a source line together with the line of marks below it.
type snippet struct{ text, marks string }

// snippet renders the first line of a span. It returns false if the file has no such line.
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

// underlined returns which bytes of a line the span covers. It returns the end of the line if the
// span continues on the next line.
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

// markEvery is the distance, in runes, between cached offsets in a long line.
const markEvery = 1024

// offset returns the byte offset of rune n in the line with the given number.
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

// runeOffset returns the byte offset of rune n in s. If s is shorter, it returns the length of s.
func runeOffset(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// windowStart returns the offset at which to start printing a line. The byte at the offset "at"
// must be visible.
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

// advance returns the end of the longest part of line that begins at the offset start and fits into
// the given number of cells.
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

// render returns line[start:stop] in printable form, together with its width in cells.
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

// hidden reports whether a terminal or web page would not show r as a separate character. Hidden
// characters are control characters, bidi overrides, zero-width runes, unusual spaces, and
// invisible letters (Hangul fillers).
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// glyph returns the rune at s[i] in printable form, together with its length in bytes and its width
// in terminal cells.
func glyph(s string, i int) (text string, size, cells int) {
	r, size := utf8.DecodeRuneInString(s[i:])
	if !commandAt(s, i) && !hidden(r) && (r != utf8.RuneError || size != 1) {
		return s[i : i+size], size, width(r)
	}
	// As in Go, \xNN is a byte and \uNNNN is a rune. The two forms distinguish a stray byte 9b from
	// the control character U+009B.
	switch {
	case r == '\n':
		text = `\n`
	case r == '\r':
		text = `\r`
	case r == '\t':
		text = `\t`
	case size == 1:
		text = fmt.Sprintf(`\x%02x`, s[i])
	case r > 0xffff:
		text = fmt.Sprintf(`\U%08x`, r)
	default:
		text = fmt.Sprintf(`\u%04x`, r)
	}
	return text, size, len(text)
}

// commandAt reports whether s[i] is the second # of a command to a CI runner. GitHub's runner
// recognizes ##[name] anywhere in a line (actions/runner ActionCommand.TryParse). Azure's runner
// does the same for ##vso[name]. TeamCity does the same for ##teamcity[name].
func commandAt[T string | []byte](s T, i int) bool {
	if s[i] != '#' || i == 0 || s[i-1] != '#' {
		return false
	}
	tail := strings.TrimLeft(string(s[i+1:min(len(s), i+20)]), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.HasPrefix(tail, "[")
}

// Visible returns s as a single line without hidden characters or commands to a CI runner. It does
// not change :: at the start of a line, because notCommand handles that case.
func Visible(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		text, size, _ := glyph(s, i)
		b.WriteString(text)
		i += size
	}
	return b.String()
}

// Line returns a whole line of output without hidden characters or commands to a CI runner.
func Line(s string) string { return notCommand(Visible(s)) }

// plain reports whether s is printable ASCII without #. Visible does not change such text, and
// nearly all text is plain.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '#' {
			return false
		}
	}
	return true
}

// notCommand changes a line that GitHub's runner would execute as a command. The runner recognizes
// ::name:: at the start of a line, even after spaces.
func notCommand(line string) string {
	at := len(line) - len(strings.TrimLeft(line, " "))
	if strings.HasPrefix(line[at:], "::") {
		return line[:at] + `\x3a` + line[at+1:]
	}
	return line
}

// cell is like glyph, but counts a tab as four cells, as source lines do.
func cell(s string, i int) (text string, size, cells int) {
	if s[i] == '\t' {
		return "    ", 1, 4
	}
	return glyph(s, i)
}

// width returns how many terminal cells a printable rune takes.
func width(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), r >= 0x1160 && r <= 0x11ff:
		return 0 // combining marks; Hangul vowels and final consonants, which join the initial one
	case wide(r):
		return 2
	}
	return 1
}

// wideRanges lists the ranges of runes that UAX #11 calls Wide or Fullwidth. It consists of pairs
// of first and last runes in ascending order. A range may include unassigned runes, because they
// are never printed unchanged.
const wideRanges = "\u1100\u115F\u231A\u231B\u2329\u232A\u23E9\u23EC\u23F0\u23F0\u23F3\u23F3\u25FD\u25FE\u2614\u2615\u2648\u2653" +
	"\u267F\u267F\u2693\u2693\u26A1\u26A1\u26AA\u26AB\u26BD\u26BE\u26C4\u26C5\u26CE\u26CE\u26D4\u26D4\u26EA\u26EA\u26F2\u26F3" +
	"\u26F5\u26F5\u26FA\u26FA\u26FD\u26FD\u2705\u2705\u270A\u270B\u2728\u2728\u274C\u274C\u274E\u274E\u2753\u2755\u2757\u2757" +
	"\u2795\u2797\u27B0\u27B0\u27BF\u27BF\u2B1B\u2B1C\u2B50\u2B50\u2B55\u2B55\u2E80\u303E\u3041\u3247\u3250\u4DBF\u4E00\uA4C6" +
	"\uA960\uA97C\uAC00\uD7A3\uF900\uFAD9\uFE10\uFE19\uFE30\uFE6B\uFF01\uFF60\uFFE0\uFFE6\U00016FE0\U0001B2FB" +
	"\U0001F004\U0001F004\U0001F0CF\U0001F0CF\U0001F18E\U0001F18E\U0001F191\U0001F19A\U0001F200\U0001F320\U0001F32D\U0001F335" +
	"\U0001F337\U0001F37C\U0001F37E\U0001F393\U0001F3A0\U0001F3CA\U0001F3CF\U0001F3D3\U0001F3E0\U0001F3F0\U0001F3F4\U0001F3F4" +
	"\U0001F3F8\U0001F43E\U0001F440\U0001F440\U0001F442\U0001F4FC\U0001F4FF\U0001F53D\U0001F54B\U0001F54E\U0001F550\U0001F567" +
	"\U0001F57A\U0001F57A\U0001F595\U0001F596\U0001F5A4\U0001F5A4\U0001F5FB\U0001F64F\U0001F680\U0001F6C5\U0001F6CC\U0001F6CC" +
	"\U0001F6D0\U0001F6D2\U0001F6D5\U0001F6DF\U0001F6EB\U0001F6EC\U0001F6F4\U0001F6FC\U0001F7E0\U0001F7F0\U0001F90C\U0001F93A" +
	"\U0001F93C\U0001F945\U0001F947\U0001F9FF\U0001FA70\U0001FAF8\U00020000\U000323AF"

// wide reports whether r takes two terminal cells.
func wide(r rune) bool {
	first, odd := rune(0), true
	for _, bound := range wideRanges {
		if odd {
			first = bound
		} else if r <= bound {
			return r >= first
		}
		odd = !odd
	}
	return false
}
