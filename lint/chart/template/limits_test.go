package template

import (
	"errors"
	"strings"
	"testing"
)

// TestDepth checks that nesting too deeply is an error on the line that exceeds the limit.
func TestDepth(t *testing.T) {
	for _, source := range []string{
		strings.Repeat("{{ if 1 }}\n", 200) + strings.Repeat("{{ end }}", 200),
		strings.Repeat("{{ range 1 }}\n", 200) + strings.Repeat("{{ end }}", 200),
		"{{ " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + " }}",
		`{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`,
	} {
		s := New(nil)
		whole, err := s.Parse("main", source)
		if err != nil {
			t.Fatal(err)
		}
		m := &Machine{Watch: &bounded{1_000_000}, MaxDepth: 100}
		err = m.Execute(&strings.Builder{}, s, whole, nil)
		var at *Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), "limited to a depth of 100") || strings.Contains(source, "\n") && at.Line < 50 {
			t.Errorf("%v", err)
		}
		if m.depth != 0 {
			t.Errorf("the depth stays %d", m.depth)
		}
	}
}

// TestEndless checks that endless loops stop when the steps are used up.
func TestEndless(t *testing.T) {
	for _, source := range []string{
		"{{ range 1000000000000 }}{{ end }}",
		"{{ range .endless }}{{ end }}",
		"{{ range $k, $v := .endless2 }}{{ end }}",
		"{{ range 1000000 }}{{ range 1000000 }}{{ break }}{{ end }}{{ end }}",
	} {
		s := New(nil)
		whole, err := s.Parse("main", source)
		if err != nil {
			t.Fatal(err)
		}
		err = (&Machine{Watch: &bounded{10_000}, MaxDepth: 100}).Execute(&strings.Builder{}, s, whole, map[string]any{
			"endless": func(yield func(int) bool) {
				for yield(1) {
				}
			},
			"endless2": func(yield func(int, int) bool) {
				for yield(1, 1) {
				}
			},
		})
		if !errors.Is(err, errSteps) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestErrors checks that an error has a position and wraps the error of a function.
func TestErrors(t *testing.T) {
	why := errors.New("why")
	s := New(map[string]any{"fails": func(string) (string, error) { return "", why }})
	whole, err := s.Parse("shop/a.yaml", "a:\n  {{ fails \"\x1b[31m\" }}")
	if err != nil {
		t.Fatal(err)
	}
	err = (&Machine{Watch: &bounded{100}, MaxDepth: 100}).Execute(&strings.Builder{}, s, whole, nil)
	want := `template: shop/a.yaml:2:5: executing "shop/a.yaml" at <fails "\x1b[31m">: error calling fails: why`
	want = strings.ReplaceAll(want, `\x1b`, "\x1b")
	if !errors.Is(err, why) || err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if _, err := New(nil).Parse("a", "\n"+strings.Repeat("{{ 1 }}", maxActions+1)); err == nil || !strings.Contains(err.Error(), "template: a:2: templates are limited to 200000 actions") {
		t.Error(err)
	}
}

// TestCallOfTwoResults checks that call takes functions with a result and an error.
func TestCallOfTwoResults(t *testing.T) {
	why := errors.New("why")
	for want, result := range map[string]error{"x": nil, "": why} {
		f := func() (string, error) { return "x", result }
		s := New(map[string]any{"f": func() any { return f }})
		whole, err := s.Parse("a", "{{ call f }}")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := (&Machine{Watch: &bounded{100}, MaxDepth: 100}).Execute(&out, s, whole, nil); out.String() != want || !errors.Is(err, result) {
			t.Errorf("%q, %v, want %q, %v", out.String(), err, want, result)
		}
	}
}

// TestOverride checks that a clone has its own functions and templates.
func TestOverride(t *testing.T) {
	f := func(text string) map[string]any { return map[string]any{"f": func() string { return text }} }
	s := New(f("shared"))
	if _, err := s.Parse("a", `{{ f }}{{ define "b" }}b{{ f }}{{ end }}`); err != nil {
		t.Fatal(err)
	}
	clone := s.Clone()
	clone.Override(f("own"))
	if _, err := clone.Parse("c", `{{ define "b" }}B{{ end }}{{ template "a" }}{{ template "b" }}`); err != nil {
		t.Fatal(err)
	}
	if _, err := clone.Parse("d", `{{ define "b" }} {{ end }}`); err != nil { // an empty definition replaces nothing
		t.Fatal(err)
	}
	for set, want := range map[*Set]string{s: "shared bshared", clone: "own B"} {
		var out strings.Builder
		m := &Machine{Watch: &bounded{100}, MaxDepth: 100}
		err := errors.Join(m.Execute(&out, set, set.Lookup("a"), nil), write(&out), m.Execute(&out, set, set.Lookup("b"), nil))
		if err != nil || out.String() != want {
			t.Errorf("%q, %v, want %q", out.String(), err, want)
		}
	}
	if s.Lookup("c") != nil || s.Len() != 2 {
		t.Error("the clone changes the set")
	}
}

func write(out *strings.Builder) error { return out.WriteByte(' ') }
