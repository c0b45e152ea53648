package build

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/render"
)

// isTest reports whether a hook runs in helm test.
func isTest(event string) bool {
	event = strings.ToLower(strings.TrimSpace(event))
	return event == "test" || event == "test-success"
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
