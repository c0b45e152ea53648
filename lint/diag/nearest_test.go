package diag

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	for _, row := range []struct{ word, want string }{
		{"kubernetes.io/hostnam", "kubernetes.io/hostname"}, {"Zone", "zone"}, {"zne", "zone"}, {"other", ""},
		// Names are short. For long words the time would be proportional to the product of their
		// lengths.
		{strings.Repeat("a", 1<<20), ""},
	} {
		if got := Nearest(row.word, []string{"zone", "kubernetes.io/hostname", strings.Repeat("b", 1<<20)}); got != row.want {
			t.Errorf("%.30s: %q, want %q", row.word, got, row.want)
		}
	}
}
