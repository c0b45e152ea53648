package source

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/schedlint/schedlint/lint/diag"
)

// inUTF16 encodes text with a byte order mark, as editors on Windows do.
func inUTF16(order binary.AppendByteOrder, text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// TestUTF16 compares all positions in a file as UTF-8 and as UTF-16. The name follows a character
// outside the basic plane and is long enough to need an index.
func TestUTF16(t *testing.T) {
	text := "# 𝄞 café\r\nkind: Pod\r\nmetadata: {labels: {\"𝄞\": x}, name: p}\r\n---\r\nkind: [\r\n" + strings.Repeat("# ö\r\n", chunk)
	spans := func(raw []byte) (reads string, name diag.Span, f *File) {
		file := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		set, err := Load(Options{Dir: filepath.Dir(file), Root: filepath.Dir(file)}, []string{"a.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		return reading(set), set.Objects[0].NameSpan(), set.Files[0]
	}
	want, wantSpan, plain := spans([]byte(text))
	if wantSpan.Line != 3 || wantSpan.Column != 30 || plain.Recoded {
		t.Fatalf("UTF-8: %s, %+v", want, wantSpan)
	}
	for name, order := range map[string]binary.AppendByteOrder{"LE": binary.LittleEndian, "BE": binary.BigEndian} {
		got, span, f := spans(inUTF16(order, text))
		if got != want || span != wantSpan || string(f.Text) != text || !f.Recoded {
			t.Errorf("%s: got %s, %+v, recoded %v; want %s, %+v", name, got, span, f.Recoded, want, wantSpan)
		}
		if start, end, ok := f.Range(span); !ok || string(f.Text[start:end]) != "name: p" {
			t.Errorf("%s: the name is at %d to %d", name, start, end)
		}
	}
}

func TestNoUTF16(t *testing.T) {
	for name, raw := range map[string]string{
		"half a unit":            "\xff\xfea\x00b",
		"half a pair at the end": "\xff\xfea\x00\x34\xd8",
		"half a pair":            "\xff\xfe\x34\xd8a\x00",
		"second half first":      "\xff\xfe\x1e\xdd\x34\xd8",
		"UTF-32":                 "\xff\xfe\x00\x00a\x00\x00\x00",
		"zeros":                  "\xfe\xff\x00\x00",
		"no mark":                "a\x00:\x00",
	} {
		f := NewFile("a.yaml", "a.yaml", []byte(raw))
		r := result{file: f}
		r.parse(everything)
		if got := reading(join([]result{r})); got != "unreadable-file 1" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
