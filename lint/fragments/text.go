package fragments

import (
	"bytes"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// written is a block of text in a file as a file of its own, in which each line stands where
// it stands in the other. It is nil for a scalar of another style, whose lines differ, and
// if it takes more than some bytes; cost is how many it takes.
func written(file *source.File, block *source.Node, most int) (inner *source.File, cost int) {
	head := file.Span(block).Line
	if !literal(file, block, head) {
		return nil, 0
	}
	lines := strings.Split(block.Value, "\n")
	if cost = head + len(block.Value) + len(lines)*maxIndent; cost > most {
		return nil, cost
	}
	text := bytes.NewBuffer(bytes.Repeat([]byte("\n"), head))
	indent := -1
	for i, line := range lines {
		blank, same := strings.CutSuffix(file.Line(head+1+i), line)
		switch {
		case strings.Trim(line, " ") == "":
			blank = ""
		case !same || strings.Trim(blank, " ") != "" || len(blank) > maxIndent || indent >= 0 && indent != len(blank):
			return nil, 0
		default:
			indent = len(blank)
		}
		text.WriteString(blank + line + "\n")
	}
	inner = source.NewFile(file.Name, file.Display, text.Bytes())
	inner.Result = file.Result
	return inner, cost
}

// maxIndent is how far a text may be indented.
const maxIndent = 200

// literal reports whether a scalar is a block of text that keeps its lines.
func literal(file *source.File, block *source.Node, line int) bool {
	text := file.Line(line)
	at := strings.LastIndexByte(text, '|')
	return block.Quoted && at >= 0 && strings.Contains(block.Value, "\n") && strings.Trim(text[at:], "|+-0123456789 ") == "" && strings.HasSuffix(strings.TrimRight(text[:at], " "), ":")
}
