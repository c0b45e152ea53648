package chartutil

import (
	"fmt"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
)

// imports gives charts what they import from their dependencies, the innermost first. It
// wants a merger that keeps nulls.
func (m merger) imports(c *helm.Chart, depth int) error {
	m.enter(chartSteps, depth)
	for _, d := range c.Dependencies() {
		if err := m.imports(d, depth+1); err != nil {
			return err
		}
	}
	if c.Metadata.Dependencies == nil {
		return nil
	}
	values, err := m.all(c, nil)
	if err != nil {
		return err
	}
	imported := map[string]any{}
	for _, d := range c.Metadata.Dependencies {
		var resolved []any
		for _, item := range d.ImportValues {
			from, to, ok := source(item)
			if !ok {
				continue
			}
			resolved = append(resolved, map[string]string{"child": from, "parent": to})
			m.charge(tableSteps + len(d.Name) + len(from) + len(to))
			if table, err := Values(values).Table(d.Name + "." + from); err == nil {
				m.charge(tableSteps * strings.Count(to, "."))
				imported = m.under(imported, at(to, table.AsMap()), 0)
			}
		}
		d.ImportValues = resolved
	}
	// What is imported is part of values still: merging it must not change both.
	c.Values = m.under(m.copiedTable(values, 0), imported, 0)
	return nil
}

// source is what an item of import-values names: the path of a table in the values of the
// dependency, and where in the values of the chart it belongs.
func source(item any) (from, to string, ok bool) {
	switch item := item.(type) {
	case string:
		return "exports." + item, ".", true
	case map[string]any:
		return fmt.Sprint(item["child"]), fmt.Sprint(item["parent"]), true
	}
	return "", "", false
}

// at is a table below a path; "." is the table itself.
func at(path string, table map[string]any) map[string]any {
	if path == "." {
		return table
	}
	for _, key := range slices.Backward(strings.Split(path, ".")) {
		table = map[string]any{key: table}
	}
	return table
}
