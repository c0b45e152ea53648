package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden reports whether a terminal or a web page would not show r as a separate character:
// controls, bidi overrides, zero-width runes, unusual spaces, and letters that are defined to be
// invisible (Hangul fillers).
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// glyph returns the printed form of the rune at s[i], its size in s in bytes and its width on a
// terminal in cells.
func glyph(s string, i int) (text string, size, cells int) {
	r, size := utf8.DecodeRuneInString(s[i:])
	if !commandAt(s, i) && !hidden(r) && (r != utf8.RuneError || size != 1) {
		return s[i : i+size], size, width(r)
	}
	text = escape(r, s[i], size)
	return text, size, len(text)
}

// escape returns a rune in the notation of Go: \xNN is a byte, \uNNNN a rune, so a stray byte 9b
// and the control character U+009B look different.
func escape(r rune, first byte, size int) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case size == 1:
		return fmt.Sprintf(`\x%02x`, first)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// commandAt reports whether s[i] is the second # of a command to a CI runner. GitHub's runner obeys
// ##[name] anywhere in a line, not only at its start (actions/runner ActionCommand.TryParse);
// Azure's obeys ##vso[name] in the same way, TeamCity ##teamcity[name].
func commandAt[T string | []byte](s T, i int) bool {
	if s[i] != '#' || i == 0 || s[i-1] != '#' {
		return false
	}
	tail := strings.TrimLeft(string(s[i+1:min(len(s), i+20)]), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.HasPrefix(tail, "[")
}

// Visible returns s as one line without hidden characters and without commands to a CI runner,
// unless a command begins the line.
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

// plain reports whether s is printable ASCII that cannot contain a command, like nearly all text.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '#' {
			return false
		}
	}
	return true
}

// notCommand prevents visible text at the start of a line from being a command to GitHub's runner,
// which obeys ::name:: at the start, after any leading space.
func notCommand(line string) string {
	at := len(line) - len(strings.TrimLeft(line, " "))
	if strings.HasPrefix(line[at:], "::") {
		return line[:at] + `\x3a` + line[at+1:]
	}
	return line
}

// cell is glyph for a line of source, where a tab is space.
func cell(s string, i int) (text string, size, cells int) {
	if s[i] == '\t' {
		return "    ", 1, 4
	}
	return glyph(s, i)
}

// width returns the number of terminal cells of a printable rune.
func width(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), r >= 0x1160 && r <= 0x11ff:
		return 0 // combining marks; Hangul vowels and finals join the initial
	case wide(r):
		return 2
	}
	return 1
}

// wideRanges are the first and last runes of the ranges that UAX #11 calls Wide or Fullwidth, in
// order. Ranges with only unassigned runes between them are joined, because unassigned runes are
// never printed raw.
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

// wide reports whether r takes two cells.
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
