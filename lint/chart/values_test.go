package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
)

// TestRefusedValues renders charts whose dependencies or imports would never end.
func TestRefusedValues(t *testing.T) {
	for name, c := range map[string]struct{ chart, want string }{
		"aliases of aliases": {manyAliases(8), "Chart.yaml:1: rendering is limited to 100000 steps"},
		"an import of itself": {
			"dependencies:\n- {name: a, version: '*', import-values: [{child: x.p.q, parent: p}, {child: x, parent: .}]}\n" +
				dependency("a") + "-- charts/a/values.yaml --\nx: {p: {q: {r: 1}}}\n",
			"Chart.yaml:4: values are nested more than 10000 deep, or contain themselves",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if p := refuses(t, chartOf(shop+c.chart), 100_000, c.want); !p.Refused {
				t.Errorf("%v is said to be what Helm says", p)
			}
		})
	}
	in := chartOf(shop + dependency("a") + "-- -f:prod.yaml --\na: 1\n")
	refuses(t, in, limits.ChartSteps, "values.yaml:1: the values of the dependency a are not a mapping")
}

func dependency(name string) string {
	return fmt.Sprintf("-- charts/%s/Chart.yaml --\napiVersion: v2\nname: %[1]s\nversion: 1.0.0\n", name)
}

// manyAliases returns a chart with ten aliases of a chart with ten aliases, and so on, depth
// levels deep.
func manyAliases(depth int) string {
	var b strings.Builder
	for i := range depth {
		dir := strings.Repeat("charts/a/", i)
		if i > 0 {
			fmt.Fprintf(&b, "-- %sChart.yaml --\napiVersion: v2\nname: a\nversion: 1.0.0\n", dir)
		}
		if i == depth-1 {
			continue
		}
		b.WriteString("dependencies:\n")
		for alias := range 10 {
			fmt.Fprintf(&b, "- {name: a, version: '*', alias: a%d}\n", alias)
		}
	}
	return b.String()
}
