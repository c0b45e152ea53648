package chart

import (
	"maps"
	"reflect"
	"slices"
	"unsafe"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/limits"
)

// index leads from a value to its path in the merged values of the chart. Templates pass
// maps, lists and texts on without copying them, so their addresses identify them.
type index struct {
	containers map[container]*fieldPath
	texts      map[*byte]*fieldPath
	sources    *sources
}

// container is the address of a map or of the first item of a list.
type container struct {
	at  unsafe.Pointer // keeps it alive
	len int            // of a list, -1 for a map
}

// fieldPath is a position in values: a key or an item of what parent is. nil is the root.
type fieldPath struct {
	parent *fieldPath
	key    string // of a map
	item   int    // of a list, -1 for a key
}

// step is one element of a path.
type step struct {
	key  string
	item int
}

// steps are the elements of a path, from the root.
func (p *fieldPath) steps() []step {
	var all []step
	for ; p != nil && p.parent != nil; p = p.parent {
		all = append(all, step{p.key, p.item})
	}
	slices.Reverse(all)
	return all
}

func (p *fieldPath) of(key string) *fieldPath { return &fieldPath{p, key, -1} }

func (p *fieldPath) at(item int) *fieldPath { return &fieldPath{p, "", item} }

// add notes a value and what is in it. What is there twice, such as globals, keeps the
// first path in the order of keys.
func (x *index) add(v any, p *fieldPath, depth int) {
	if depth > limits.ChartNesting {
		return
	}
	if s, ok := v.(string); ok && len(s) > 1 {
		if at := unsafe.StringData(s); x.texts[at] == nil {
			x.texts[at] = p
		}
		return
	}
	id, ok := identity(v)
	if !ok || x.containers[id] != nil {
		return
	}
	x.containers[id] = p
	if list, ok := v.([]any); ok {
		for i, item := range list {
			x.add(item, p.at(i), depth+1)
		}
		return
	}
	table := tableOf(v)
	for _, key := range slices.Sorted(maps.Keys(table)) {
		x.add(table[key], p.of(key), depth+1)
	}
}

// identity is the address of a map or list; empty lists have none.
func identity(v any) (container, bool) {
	if list, ok := v.([]any); ok {
		return container{unsafe.Pointer(unsafe.SliceData(list)), len(list)}, len(list) > 0
	}
	if table := tableOf(v); table != nil {
		return container{reflect.ValueOf(table).UnsafePointer(), -1}, true
	}
	return container{}, false
}

// tableOf is a map of values, nil if v is none.
func tableOf(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case chartutil.Values:
		return v
	}
	return nil
}

func isContainer(v any) bool {
	_, list := v.([]any)
	return list || tableOf(v) != nil
}

// pathOf is the path of a map or list, nil if it is not one of the merged values.
func (x *index) pathOf(v any) *fieldPath {
	id, ok := identity(v)
	if !ok {
		return nil
	}
	return x.containers[id]
}
