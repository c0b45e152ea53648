package chart

import (
	"errors"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
)

// TestSteps checks that work in templates is charged even if its result is not printed.
func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		least int
	}{
		"arguments that are not evaluated": {"{{ or 1" + strings.Repeat(" $.a", 5000) + " }}", 5000},
		"variables that are passed over":   {strings.Repeat("{{ $x := 1 }}", 10_000) + strings.Repeat("{{ $ }}", 100), 40_000 + 100*10_000/16},
		"files that are searched":          {`{{ range 100 }}{{ $.Files.Glob "x" }}{{ end }}`, 100},
		"texts that are compared":          {`{{ $x := repeat 32000 "x" }}{{ range 100 }}{{ if eq $x $x }}{{ end }}{{ end }}`, 100 * 2000},
		"lists of lists":                   {`{{ $x := until 1000 }}{{ range 10 }}{{ print $x | len }}{{ end }}`, 10 * 1000},
	} {
		in := chartOf(shop)
		in.Files = append(in.Files, File{"templates/a.yaml", []byte(c.text)})
		res, err := Render(in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if res.Steps < c.least {
			t.Errorf("%s takes %d steps, want %d at least", name, res.Steps, c.least)
		}
	}
}

// TestFailingSteps checks that the steps of a failing chart are charged as well, including those
// of its schema.
func TestFailingSteps(t *testing.T) {
	for name, c := range map[string]struct {
		chart string
		least int
	}{
		"a template": {"-- templates/a.yaml --\n{{ range until 1000 }}{{ end }}{{ fail \"no\" }}\n", 1000},
		"a schema":   {"-- values.schema.json --\n" + schemaBomb(), limits.SchemaSteps},
	} {
		_, err := Render(chartOf(shop + c.chart))
		var p *Problem
		if !errors.As(err, &p) || p.Steps < c.least {
			t.Errorf("%s: %+v, want %d steps at least", name, p, c.least)
		}
	}
}
