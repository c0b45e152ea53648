package diag

import (
	"fmt"
	"slices"
	"strings"
)

// sourcePlace is the key by which findings in several contexts are merged into one result.
type sourcePlace struct {
	rule, cluster string
	location      Span
	object        Object // only if the location is the source of all objects that a render produces
	said          string // only for nodes, for which contexts may have different messages
}

// sourcePlace returns the key of a finding. Findings of a rule about nodes are one result if they
// have the same message, in any cluster or render.
func (d *Diagnostic) sourcePlace() sourcePlace {
	switch {
	case d.Nodes:
		return sourcePlace{rule: d.Rule, location: d.Location, said: fmt.Sprintf("%q", append([]string{d.Message}, d.Details...))}
	case d.Written == (Object{}):
		return sourcePlace{rule: d.Rule, cluster: d.Cluster, location: d.Location, object: d.Object}
	}
	return sourcePlace{rule: d.Rule, cluster: d.Cluster, location: d.Location}
}

// Merge combines findings of a rule that several renders have at one location in the sources, or
// that several contexts have at one location in the declared nodes. The result has the worst level;
// a different message of another render becomes a related location. The input has the findings of
// each context.
func Merge(all []Diagnostic) []Diagnostic {
	shared := func(d Diagnostic) bool { return d.Render != "" || d.Nodes }
	if !slices.ContainsFunc(all, shared) {
		return all
	}
	var merged []Diagnostic
	first := map[sourcePlace]int{}
	for _, d := range all {
		if !shared(d) {
			merged = append(merged, d)
			continue
		}
		if len(d.Renders) == 0 && d.Render != "" {
			d.Renders = []string{d.Render}
		}
		key := d.sourcePlace()
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

// union returns the names of two lists, sorted, each once, without "".
func union(a, b []string) []string {
	all := slices.DeleteFunc(slices.Concat(a, b), func(name string) bool { return name == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// join merges a finding of another context into the result.
func (d *Diagnostic) join(o *Diagnostic) {
	d.Renders = union(d.Renders, o.Renders)
	if clusters := union(append(slices.Clip(d.Clusters), d.Cluster), append(slices.Clip(o.Clusters), o.Cluster)); len(clusters) > 1 {
		d.Cluster, d.Clusters = "", clusters
	} else if len(clusters) == 1 {
		d.Cluster = clusters[0]
	}
	if o.Level.Rank() > d.Level.Rank() {
		d.Level = o.Level
	}
	if o.Message != d.Message || !slices.Equal(o.Details, d.Details) {
		d.Differ = true
		text := strings.Join(append([]string{o.Message}, o.Details...), "; ")
		d.Related = append(slices.Clip(d.Related), Related{Message: fmt.Sprintf("in render %s: %s", o.Render, text), Location: d.Location})
	}
}
