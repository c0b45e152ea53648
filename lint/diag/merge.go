package diag

import (
	"fmt"
	"slices"
	"strings"
)

// sourcePlace is what makes findings in several renders one result.
type sourcePlace struct {
	rule, cluster string
	location      Span
	object        Object // only where the place stands for all that a render makes
}

// Merge makes one result of the findings of a rule at one place in the sources that
// several renders have. The worst level counts; what another render has to say of the
// place becomes a related place. Before it findings are those of each render.
func Merge(all []Diagnostic) []Diagnostic {
	if !slices.ContainsFunc(all, func(d Diagnostic) bool { return d.Render != "" }) {
		return all
	}
	var merged []Diagnostic
	first := map[sourcePlace]int{}
	for _, d := range all {
		if d.Render == "" {
			merged = append(merged, d)
			continue
		}
		key := sourcePlace{rule: d.Rule, cluster: d.Cluster, location: d.Location}
		if d.Written == (Object{}) {
			key.object = d.Object
		}
		if len(d.Renders) == 0 {
			d.Renders = []string{d.Render}
		}
		i, seen := first[key]
		if !seen {
			first[key] = len(merged)
			merged = append(merged, d)
			continue
		}
		merged[i].join(&d)
	}
	return merged
}

// join takes in a finding of another render.
func (d *Diagnostic) join(o *Diagnostic) {
	d.Renders = append(slices.Clip(d.Renders), o.Renders...)
	slices.Sort(d.Renders)
	d.Renders = slices.Compact(d.Renders)
	if o.Level.Rank() > d.Level.Rank() {
		d.Level = o.Level
	}
	if o.Message != d.Message || !slices.Equal(o.Details, d.Details) {
		d.Differ = true
		text := strings.Join(append([]string{o.Message}, o.Details...), "; ")
		d.Related = append(slices.Clip(d.Related), Related{Message: fmt.Sprintf("in render %s: %s", o.Render, text), Location: d.Location})
	}
}
