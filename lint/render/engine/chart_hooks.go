package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/render"
)

// events are those of a hook, as Helm reads them (releaseutil: SortManifests).
func events(hook *yaml.Node) []string {
	all := strings.Split(text(hook), ",")
	for i := range all {
		all[i] = strings.ToLower(strings.TrimSpace(all[i]))
	}
	return all
}

// isTest reports whether a hook runs in helm test.
func isTest(event string) bool { return event == "test" || event == "test-success" }

// isUnknown reports whether Helm leaves out a hook because of an event, such as crd-install
// of Helm 2.
func isUnknown(event string) bool {
	when, what, _ := strings.Cut(event, "-")
	known := (when == "pre" || when == "post") && slices.Contains([]string{"install", "delete", "upgrade", "rollback"}, what)
	return !known && !isTest(event)
}

// crds are the documents of crds/, if they are asked for: Helm prints them as they stand,
// before all else.
func (c *charting) crds(result *chart.Result) ([]printed, *render.Problem) {
	if !c.root.Chart.CRDs {
		return nil, nil
	}
	var all []printed
	for _, f := range result.CRDs {
		m := chart.Manifest{Template: f.Name, Text: f.Data}
		for i := range bytes.Count(f.Data, []byte("\n")) + 1 {
			m.Lines = append(m.Lines, chart.Origin{Template: f.Name, Line: i + 1, Exact: true})
		}
		for i, d := range split(m) {
			d.index = i
			if err := d.head(); err != nil {
				at := d.from[min(lineOf(err), len(d.from))-1]
				return nil, c.problem(at.Template, at.Line, fmt.Errorf("the file is not an object: %w", err))
			}
			all = append(all, d)
		}
	}
	return all, nil
}
