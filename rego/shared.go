package rego

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// over overrides parameters with others. A value without a place of its own gets the given place.
func (v Values) over(under Values, place string) Values {
	all := maps.Clone(under.Values)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, v.Values)
	return Values{Values: all, At: func(path ...string) string {
		at := under.At
		if len(path) > 0 {
			if _, has := v.Values[path[0]]; has {
				at = v.At
			}
		}
		if at == nil {
			return place
		}
		return cmp.Or(at(path...), place)
	}}
}

// over returns the parameters of a rule, with shared ones as their defaults, if the rule has such
// parameters and runs.
func (r *rule) over(all []Shared, given Values) Values {
	if r.isTemplate() || r.off {
		return given
	}
	below, found := Values{}, false
	for i := range all {
		s := &all[i]
		if !s.Matches(r.id) {
			continue
		}
		some := Values{Values: map[string]any{}, At: s.At}
		for name, value := range s.Values.Values {
			if r.parameter(name) != nil {
				some.Values[name], found = value, true
			}
		}
		below = some.over(below, "")
	}
	if !found {
		return given
	}
	return given.over(below, "")
}

// schema returns the schema of the parameters of a rule, or nil if it takes none. It reads the
// annotation only if the annotation may matter.
func (r *rule) schema() *schema {
	if !r.mentions("params:") {
		return nil
	}
	return r.notes().params
}

// parameter returns the schema of a parameter, or nil if the rule has no such parameter.
func (r *rule) parameter(name string) *schema {
	if s := r.schema(); s != nil {
		return s.properties[name]
	}
	return nil
}

// shareable returns errors about shared parameters that no rule has, or that differ in type between
// rules.
func (e *Engine) shareable(s *Shared) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(s.Values.Values)) {
		var first *rule
		var known []string
		for _, r := range e.rules {
			if r.isTemplate() || !s.Matches(r.id) {
				continue
			}
			is := r.parameter(name)
			switch {
			case is == nil:
				if s := r.schema(); s != nil {
					known = append(known, s.names()...)
				}
			case first == nil:
				first = r
			case !is.sameType(first.parameter(name)):
				errs = append(errs, s.error(name, "%s takes %s and %s takes %s; give the parameter to each rule",
					first.id, first.parameter(name).typeName(), r.id, is.typeName()))
			}
		}
		if first == nil {
			errs = append(errs, s.error(name, "no rule that %s matches has this parameter%s", s.Key, near(name, known)))
		}
	}
	return errs
}

// error returns an error about one of the parameters.
func (s *Shared) error(name, format string, args ...any) error {
	place := ""
	if s.At != nil {
		place = cmp.Or(s.At(name), s.At()) + ": "
	}
	return fmt.Errorf("%srules.%s.params.%s: %s", place, cut(s.Key), cut(name), fmt.Sprintf(format, args...))
}

// sameType reports whether two schemas accept values of one type. It ignores limits and
// enumerations, which each rule checks by itself.
func (s *schema) sameType(o *schema) bool {
	switch {
	case s == nil || o == nil:
		return s == o
	case s.kind != o.kind || !slices.Equal(s.names(), o.names()):
		return false
	}
	for name, p := range s.properties {
		if !p.sameType(o.properties[name]) {
			return false
		}
	}
	return s.items.sameType(o.items)
}

// typeName names a type in a sentence.
func (s *schema) typeName() string {
	if s.items != nil {
		return article(s.kind) + " of " + s.items.kind + " items"
	}
	return article(s.kind)
}
