package pointers

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
)

// TestIgnored checks that patterns have the same meaning as in Flux.
func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		patterns, name string
		want           bool
	}{
		{"", "a.yaml", false},
		{"# a.yaml", "a.yaml", false},
		{"a.yaml", "x/a.yaml", true},
		{"/a.yaml", "x/a.yaml", false},
		{"x/", "x/a.yaml", true},
		{"x/", "y/x", false},
		{"x/*.yaml", "x/a.yaml", true},
		{"x/*.yaml", "x/y/a.yaml", false},
		{"**/y/*.yaml", "x/y/a.yaml", true},
		{"/*\n!/deploy", "deploy/a.yaml", false},
		{"/*\n!/deploy", "other/a.yaml", true},
		{"/*\n!/deploy/prod/", "deploy/prod/a.yaml", false},
		{"/*\n!/deploy/prod/", "deploy/a.yaml", true},
		{"!a.yaml\n*.yaml  ", "a.yaml", true},
		{"[", "[", false},
	} {
		if got := NewIgnored(c.patterns).File(c.name); got != c.want {
			t.Errorf("%q and %s: %v", c.patterns, c.name, got)
		}
	}
	if i := NewIgnored(strings.Repeat("a\n", limits.IgnorePatterns), "b"); !i.Over || i.Len() != limits.IgnorePatterns {
		t.Errorf("%d patterns", i.Len())
	}
}
