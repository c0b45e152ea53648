package report

import (
	"errors"
	"strings"
	"testing"
)

// TestLineWriterEndsChunksWithLines writes text in pieces of many sizes. No line may start with a
// command, wherever the pieces and chunks end.
func TestLineWriterEndsChunksWithLines(t *testing.T) {
	text := strings.Repeat("a line with :: in it\n  ::error::x\n::b", chunk/20) + "\n::end"
	want := strings.ReplaceAll(strings.ReplaceAll(text, "\n  ::", "\n  \\x3a:"), "\n::end", "\n\\x3a:end")
	want = strings.ReplaceAll(want, "\n::b", "\n\\x3a:b")
	for _, size := range []int{1, 7, chunk - 1, chunk + 1, len(text)} {
		var out strings.Builder
		w := &lineWriter{out: &out}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if err := w.flush(); err != nil || out.String() != want {
			t.Errorf("pieces of %d bytes: %v, %d bytes, want %d", size, err, out.Len(), len(want))
		}
	}
}

func TestLineWriterReportsErrors(t *testing.T) {
	if err := lines(noSpace{}, "text"); err == nil {
		t.Error("no error from a writer that takes nothing")
	}
	w := &lineWriter{out: noSpace{}}
	if _, err := w.Write(make([]byte, chunk)); err != nil {
		t.Errorf("%v before a line ends", err)
	}
	if _, err := w.Write([]byte("\n")); err == nil {
		t.Error("no error once a chunk is full")
	}
}

// noSpace is a writer that always fails.
type noSpace struct{}

func (noSpace) Write([]byte) (int, error) { return 0, errors.New("no space left") }
