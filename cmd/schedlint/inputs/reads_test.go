package inputs

import "testing"

// TestReads checks that a file that does not fit is not kept, and that the first of two texts for
// a file is kept.
func TestReads(t *testing.T) {
	all := &reads{map[string][]byte{}, 5}
	for _, f := range []struct{ name, text string }{{"a", "12"}, {"b", "1234"}, {"a", "x"}, {"c", "123"}, {"d", ""}, {"e", "1"}} {
		all.keep(f.name, []byte(f.text))
	}
	for name, want := range map[string]string{"a": "12", "b": "-", "c": "123", "d": "", "e": "-"} {
		got := "-"
		if text, ok := all.overlay(name); ok {
			got = string(text)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
