package chart

import (
	"strings"
	"unsafe"
)

func addressOf(text string) *byte { return unsafe.StringData(text) }

// ofValues are the origins of the lines of a text that is one of the values.
func (t *trace) ofValues(text string) *traced {
	p := t.index.textPath(text)
	if p == nil {
		return nil
	}
	all := t.index.sources.scalar(p, text)
	if len(all) == 0 {
		return nil
	}
	lines := strings.Split(text, "\n")
	one := &traced{text: text, lines: make([]origin, len(lines))}
	for i, line := range lines {
		c := all[0]
		if len(lines) > 1 {
			c = candidate{place: c.place, whole: line}
		}
		one.lines[i].cands = []candidate{c}
	}
	t.texts[addressOf(text)] = one
	return one
}
