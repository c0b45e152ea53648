package chartutil

import (
	"fmt"
	"maps"
	"slices"

	helm "helm.sh/helm/v3/pkg/chart"
)

const globalKey = "global"

// Coalesce gives the values that the templates of a chart see: those of the user over
// those of the chart, and the same for each dependency below its name. Nulls delete keys
// that the chart sets. The error is ErrDepth, or says which dependency has values that
// are not a mapping.
func Coalesce(c *helm.Chart, user map[string]any, charge func(steps int)) (v Values, err error) {
	defer stopped(&err)
	return merger{charge, true}.all(c, user)
}

// all merges the values of a chart and of its dependencies into a copy of user.
func (m merger) all(c *helm.Chart, user map[string]any) (map[string]any, error) {
	v := m.copiedTable(user, 0)
	if v == nil {
		v = map[string]any{}
	}
	return v, m.chart(c, v, 0)
}

// chart merges the values of a chart and of its dependencies into v.
func (m merger) chart(c *helm.Chart, v map[string]any, depth int) error {
	m.enter(chartSteps, depth)
	m.own(c, v)
	for _, d := range c.Dependencies() {
		table, ok := v[d.Name()]
		if !ok {
			table = map[string]any{}
			v[d.Name()] = table
		}
		below, ok := table.(map[string]any)
		if !ok {
			return fmt.Errorf("the values of the dependency %s are not a mapping", d.Name())
		}
		m.globals(below, v)
		if err := m.chart(d, below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// own merges the values of the chart itself into v.
func (m merger) own(c *helm.Chart, v map[string]any) {
	for key, value := range m.copiedTable(c.Values, 0) {
		winner, ok := v[key]
		switch {
		case !ok:
			v[key] = value
		case winner == nil && m.drop:
			delete(v, key)
		default:
			into, ok := winner.(map[string]any)
			from, both := value.(map[string]any)
			if ok && both {
				m.keepingFor(c, key).under(into, from, 0)
			}
		}
	}
}

// keepingFor is a merger that keeps nulls if a key has the values of a dependency: they
// may delete what the dependency sets itself, which comes later.
func (m merger) keepingFor(c *helm.Chart, key string) merger {
	m.charge(len(c.Dependencies()))
	named := func(d *helm.Chart) bool { return d.Name() == key }
	return merger{m.charge, m.drop && !slices.ContainsFunc(c.Dependencies(), named)}
}

// globals puts the globals of a chart over those of a dependency. Tables in tables of
// globals are not copied: what a dependency has there goes to the chart as well, and to
// the dependencies that come after it.
func (m merger) globals(below, above map[string]any) {
	to, ok := tableAt(below, globalKey)
	if !ok {
		return
	}
	from, ok := tableAt(above, globalKey)
	if !ok {
		return
	}
	m.charge(tableSteps + len(from))
	keep := merger{charge: m.charge}
	for _, key := range sorted(from) {
		old, ok := to[key]
		table, isOld := old.(map[string]any)
		switch value := from[key].(type) {
		case map[string]any:
			if ok && !isOld {
				continue
			}
			m.charge(tableSteps + len(value))
			winner := maps.Clone(value)
			if isOld {
				keep.under(winner, table, 0)
			}
			to[key] = winner
		default:
			if !isOld {
				to[key] = value
			}
		}
	}
	below[globalKey] = to
}

// tableAt is the table of a key, a new one if there is no such key; ok is false if
// something else is there.
func tableAt(v map[string]any, key string) (table map[string]any, ok bool) {
	value, ok := v[key]
	if !ok {
		return map[string]any{}, true
	}
	table, ok = value.(map[string]any)
	return table, ok
}
