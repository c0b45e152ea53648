package chartutil

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// merger merges values. If drop is set, a null removes the key that it overrides. Otherwise the
// null remains.
type merger struct {
	charge func(int)
	drop   bool
}

// Costs in steps. A table has a cost of its own, because it must be allocated.
const (
	tableSteps = 4
	chartSteps = 20
)

// tooDeep is the panic value for values that are nested too deeply. stopped recovers it.
type tooDeep struct{}

// stopped turns a panic with tooDeep into an error.
func stopped(err *error) {
	switch r := recover().(type) {
	case nil:
	case tooDeep:
		*err = ErrDepth
	default:
		panic(r)
	}
}

// copied returns a deep copy of v. A part that occurs twice is copied twice.
func (m merger) copied(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		return m.copiedTable(v, depth)
	case []any:
		m.enter(1+len(v), depth)
		if v == nil {
			return v
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = m.copied(item, depth+1)
		}
		return list
	}
	return v
}

func (m merger) copiedTable(v map[string]any, depth int) map[string]any {
	m.enter(tableSteps+len(v), depth)
	if v == nil {
		return nil
	}
	table := make(map[string]any, len(v))
	for _, key := range sorted(v) {
		table[key] = m.copied(v[key], depth+1)
	}
	return table
}

func (m merger) enter(steps, depth int) {
	m.charge(steps)
	if depth > MaxDepth {
		panic(tooDeep{})
	}
}

// under merges low into high and returns high. The values in high take precedence. Values that are
// only in low are not copied. A null in high remains if low does not have the key.
func (m merger) under(high, low map[string]any, depth int) map[string]any {
	m.enter(1+len(high)+len(low), depth)
	if low == nil {
		return high
	}
	if high == nil {
		return low
	}
	// If drop is set, a null in high removes the key from both maps. Otherwise both maps get the
	// null. The change to low is observable if low is part of values that are still in use.
	for key, value := range high {
		switch {
		case value != nil:
		case !m.drop:
			low[key] = nil
		case low[key] != nil:
			delete(high, key)
			delete(low, key)
		}
	}
	for _, key := range sorted(low) {
		value := low[key]
		winner, ok := high[key]
		if !ok {
			high[key] = value
			continue
		}
		into, ok := winner.(map[string]any)
		from, both := value.(map[string]any)
		if ok && both {
			m.under(into, from, depth+1)
		}
	}
	return high
}

// sorted returns the keys of a table in sorted order.
func sorted(table map[string]any) []string { return slices.Sorted(maps.Keys(table)) }

const globalKey = "global"

// Coalesce returns the values for a chart's templates. The user's values take precedence over the
// chart's values. The values of a dependency are under its name and are merged in the same way. A
// null deletes a key that the chart sets. The error is ErrDepth or names a dependency whose values
// are not a mapping.
func Coalesce(c *helm.Chart, user map[string]any, charge func(steps int)) (v Values, err error) {
	defer stopped(&err)
	return merger{charge, true}.all(c, user)
}

// all merges the values of a chart and its dependencies into a copy of user.
func (m merger) all(c *helm.Chart, user map[string]any) (map[string]any, error) {
	v := m.copiedTable(user, 0)
	if v == nil {
		v = map[string]any{}
	}
	return v, m.chart(c, v, 0)
}

// chart merges the values of a chart and its dependencies into v.
func (m merger) chart(c *helm.Chart, v map[string]any, depth int) error {
	m.enter(chartSteps, depth)
	// The default values of the chart.
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

// keepingFor returns a merger that keeps nulls if the key holds the values of a dependency. Such
// nulls may delete values of the dependency, which are merged later.
func (m merger) keepingFor(c *helm.Chart, key string) merger {
	m.charge(len(c.Dependencies()))
	named := func(d *helm.Chart) bool { return d.Name() == key }
	return merger{m.charge, m.drop && !slices.ContainsFunc(c.Dependencies(), named)}
}

// globals merges a chart's globals into the globals of a dependency. The chart's globals take
// precedence. Nested tables are not copied. Nested globals of the dependency therefore also reach
// the chart and its later dependencies.
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

// tableAt returns the table at a key, or a new one if the key is missing. ok is false if the value
// is not a table.
func tableAt(v map[string]any, key string) (table map[string]any, ok bool) {
	value, ok := v[key]
	if !ok {
		return map[string]any{}, true
	}
	table, ok = value.(map[string]any)
	return table, ok
}

// Values holds all or part of a chart's values. Templates can call its methods.
type Values map[string]any

// MaxDepth is the maximum nesting depth of values.
const MaxDepth = 10_000

// ErrDepth is returned when values are nested more than MaxDepth levels deep.
var ErrDepth = errors.New("values are nested more than 10000 deep, or contain themselves")

// Table returns the table at a dot-separated path of keys.
func (v Values) Table(path string) (Values, error) {
	for key := range strings.SplitSeq(path, ".") {
		switch inner := v[key].(type) {
		case map[string]any:
			v = inner
		case Values:
			v = inner
		default:
			return nil, fmt.Errorf("%q is not a table", key)
		}
	}
	return v, nil
}

// PathValue returns the value at a dot-separated path of keys. It returns an error if the value is
// a table.
func (v Values) PathValue(path string) (any, error) {
	if path == "" {
		return nil, errors.New("the path is empty")
	}
	key := path
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		key = path[dot+1:]
		in, err := v.Table(path[:dot])
		if err != nil {
			return nil, noValue(key)
		}
		v = in
	}
	value, ok := v[key]
	if _, table := value.(map[string]any); !ok || table {
		return nil, noValue(key)
	}
	return value, nil
}

func noValue(key string) error { return fmt.Errorf("%q is not a value", key) }

// AsMap returns v as a plain map, or an empty map if v is nil.
func (v Values) AsMap() map[string]any {
	if len(v) == 0 {
		return map[string]any{}
	}
	return v
}

// YAML returns the values as YAML.
func (v Values) YAML() (string, error) {
	text, err := yaml.Marshal(v)
	return string(text), err
}
