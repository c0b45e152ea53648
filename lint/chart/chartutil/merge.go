package chartutil

import (
	"maps"
	"slices"
)

// merger merges values. Nulls take keys away from what they win over if drop is true, and
// stay otherwise.
type merger struct {
	charge func(int)
	drop   bool
}

// What is charged: a table costs more than its entries because it is allocated.
const (
	tableSteps = 4
	chartSteps = 20
)

// tooDeep is a panic value that stopped recovers.
type tooDeep struct{}

// stopped turns a panic about nesting into an error.
func stopped(err *error) {
	switch r := recover().(type) {
	case nil:
	case tooDeep:
		*err = ErrDepth
	default:
		panic(r)
	}
}

// copied is a deep copy. What is in a value twice is in the copy as two values.
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

// under puts the values of low below those of high, which win, and gives high. Keys that
// are only in low move over without being copied. A null in high that has no counterpart
// stays.
func (m merger) under(high, low map[string]any, depth int) map[string]any {
	m.enter(1+len(high)+len(low), depth)
	if low == nil {
		return high
	}
	if high == nil {
		return low
	}
	m.nulls(high, low)
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

// nulls applies the nulls of high. Where they are dropped, one that wins over a value
// takes the key away from both sides. Otherwise it becomes the value on both sides; low
// may be a part of values that are still in use, so this can be seen.
func (m merger) nulls(high, low map[string]any) {
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
}

// sorted are keys in the one order in which they are taken.
func sorted(table map[string]any) []string { return slices.Sorted(maps.Keys(table)) }
