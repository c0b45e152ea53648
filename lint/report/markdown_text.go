package report

import (
	"regexp"
	"slices"
	"strings"
)

// Untrusted text reaches a page on GitHub as Markdown. Backslash escapes do not help: GitHub turns
// mentions, issues, commits and emoji into links and pictures after it has removed the escapes. It
// leaves code alone, and code needs no escapes, so everything except plain words becomes code.

var (
	// plainWord matches a word of prose without meaning to Markdown or GitHub.
	plainWord = regexp.MustCompile(`^\(?["']?[A-Za-z]+(?:['-][A-Za-z]+)*["']?[),.;:?]*$`)
	// plainNumber matches a number, but 3. or 3) at the start of a line would begin a list.
	plainNumber = regexp.MustCompile(`^\(?\d{1,6}[),.;:%]*$`)
	// commitID matches a word that could be the name of a commit.
	commitID = regexp.MustCompile(`^[(]?[a-f]{7,}[),.;:?]*$`)
	// backticks matches the runs that the fence of code must exceed.
	backticks = regexp.MustCompile("`+")
)

// prose returns a sentence in Markdown, on one line: words unchanged, names and the rest as code.
func prose(s string) string {
	var out, code []string
	flush := func(tail string) {
		if len(code) > 0 {
			out, code = append(out, codeSpan(strings.Join(code, " "))+tail), nil
		}
	}
	for i, word := range strings.Fields(Visible(s)) {
		if plainWord.MatchString(word) && !commitID.MatchString(word) || plainNumber.MatchString(word) && (i > 0 || !strings.ContainsAny(word, ".)")) {
			flush("")
			out = append(out, word)
			continue
		}
		name := strings.TrimRight(word, ",.;:?)")
		if name == "" || strings.Count(name, "(") > strings.Count(name, ")") {
			name = word
		}
		if code = append(code, name); name != word {
			flush(word[len(name):])
		}
	}
	flush("")
	return strings.Join(out, " ")
}

// codeSpan returns s as code within a line; "" stays "".
func codeSpan(s string) string {
	s = Visible(s)
	if s == "" {
		return ""
	}
	if strings.Trim(s, "` ") != s {
		s = " " + s + " " // the page removes one space from each end
	}
	mark := strings.Repeat("`", 1+longestBackticks(s))
	return mark + s + mark
}

// codeBlock returns visible lines as a block of code.
func codeBlock(text string) string {
	mark := strings.Repeat("`", max(3, 1+longestBackticks(text)))
	return mark + "text\n" + strings.TrimRight(text, "\n") + "\n" + mark
}

func longestBackticks(s string) int {
	longest := 0
	for _, run := range backticks.FindAllString(s, -1) {
		longest = max(longest, len(run))
	}
	return longest
}

// tableRow returns one line of a table. A bar would end a cell even within code, and whether a
// backslash escapes it depends on the preceding characters, so bars are replaced.
func tableRow(cells []string) string {
	cells = slices.Clone(cells)
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\x7c`)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// clipped returns the first n characters of s, with the number of omitted bytes.
func clipped(s string, n int) string {
	if end := runeOffset(s, n); end < len(s) {
		return s[:end] + " ... (" + Count(len(s)-end, "byte") + " more)"
	}
	return s
}
