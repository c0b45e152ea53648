package cli

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// TestColour covers cases that scripts cannot cover without a terminal. /dev/zero is a character
// device, like a terminal.
func TestColour(t *testing.T) {
	device, err := os.OpenFile("/dev/zero", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer device.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.Create(t.TempDir() + "/out.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name, noColor, term string
		w                   io.Writer
		want                bool
	}{
		{"terminal", "", "xterm", device, true},
		{"NO_COLOR", "1", "xterm", device, false},
		{"dumb terminal", "", "dumb", device, false},
		{"null device", "", "xterm", null, false},
		{"file", "", "xterm", file, false},
		{"buffer", "", "xterm", &bytes.Buffer{}, false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if got := colour(c.w); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
