package main

import (
	"maps"
	"slices"
)

func (c *Case) clone() *Case {
	k := *c
	k.Nodes, k.Manifests = nil, nil
	for _, o := range c.Nodes {
		k.Nodes = append(k.Nodes, cloneValue(o).(object))
	}
	for _, o := range c.Manifests {
		k.Manifests = append(k.Manifests, cloneValue(o).(object))
	}
	return &k
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, x := range v {
			out[k] = cloneValue(x)
		}
		return out
	case list:
		out := list{}
		for _, x := range v {
			out = append(out, cloneValue(x))
		}
		return out
	}
	return v
}

// change makes a case smaller in place, and tells whether it did.
type change func(*Case) bool

// changes are all single steps that make a case smaller, large ones first.
func (c *Case) changes() []change {
	var all []change
	for i := range c.Manifests {
		all = append(all, func(k *Case) bool { k.Manifests = slices.Delete(k.Manifests, i, i+1); return len(k.Manifests) > 0 })
	}
	for i := range c.Nodes {
		all = append(all, func(k *Case) bool { k.Nodes = slices.Delete(k.Nodes, i, i+1); return len(k.Nodes) > 0 })
	}
	for i, o := range c.Manifests {
		all = append(all, inside(o, func(k *Case) any { return k.Manifests[i] })...)
	}
	for i, o := range c.Nodes {
		all = append(all, inside(o, func(k *Case) any { return k.Nodes[i] })...)
	}
	return all
}

// kept are fields without which an object is none.
var kept = []string{"apiVersion", "kind", "name", "namespace", "metadata", "spec", "template", "containers", "image", "jobTemplate", "schedule"}

// inside are the steps within one value: fields and items go, numbers fall.
func inside(v any, at func(*Case) any) []change {
	var all []change
	switch v := v.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(kept, key) {
				all = append(all, func(k *Case) bool { delete(at(k).(object), key); return true })
			}
			if n, ok := v[key].(int); ok && n > 1 {
				all = append(all, func(k *Case) bool { at(k).(object)[key] = n - 1; return true })
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if items, ok := v[key].(list); ok && len(items) > 1 {
				for i := range items {
					all = append(all, func(k *Case) bool {
						o := at(k).(object)
						o[key] = slices.Delete(o[key].(list), i, i+1)
						return true
					})
				}
			}
			all = append(all, inside(v[key], func(k *Case) any { return at(k).(object)[key] })...)
		}
	case list:
		for i := range v {
			all = append(all, inside(v[i], func(k *Case) any { return at(k).(list)[i] })...)
		}
	}
	return all
}
