package lint_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestEditsFix applies every offered edit and lints again: there must be fewer findings.
func TestEditsFix(t *testing.T) {
	soft := func(quote string) string {
		return strings.Replace(webManifest("1", softHost), "topologyKey: kubernetes.io/hostname", "topologyKey: "+quote+"topology.kubernetes.io/hostname"+quote, 1)
	}
	for name, text := range map[string]string{
		"plain":  soft(""),
		"double": soft(`"`),
		"single": soft("'"),
		"field":  strings.Replace(webManifest("1", softHost), "weight:", "wieght:", 1) + "---\n" + strings.Replace(webManifest("1", softHost), "affinity:", "afinity:", 1),
		"json":   `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"app":"p"}},"spec":{"containers":[{"name":"c","image":"c"}],"nodeSelector":{"beta.kubernetes.io/os":"linux"},"tolerationz":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			edits := 0
			before := lintFiles(t, "", map[string]string{"web.yaml": text})
			for _, d := range before.Diagnostics {
				for _, f := range d.Fixes {
					for _, e := range f.Edits {
						edits++
						after := lintFiles(t, "", map[string]string{"web.yaml": applied(text, e)})
						if n := len(after.Diagnostics); n >= len(before.Diagnostics) {
							t.Errorf("%s: %d findings before, %d after writing %s:\n%s", d.Rule, len(before.Diagnostics), n, e.NewText, applied(text, e))
						}
					}
				}
			}
			if edits == 0 {
				t.Errorf("no edit is offered: %s", findings(before))
			}
		})
	}
}

// applied returns the text after one edit within a line.
func applied(text string, e diag.Edit) string {
	lines := strings.SplitAfter(text, "\n")
	line := []rune(lines[e.Location.Line-1])
	lines[e.Location.Line-1] = string(line[:e.Location.Column-1]) + e.NewText + string(line[e.Location.EndColumn-1:])
	return strings.Join(lines, "")
}
