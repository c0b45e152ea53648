package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// loosenedPolicies reports packs, folders and rules that are gone, and rules whose parameters or
// scopes have changed.
func (c *Config) loosenedPolicies(before *Config) []diag.Silence {
	var all []diag.Silence
	add := func(at diag.Span, format string, args ...any) {
		all = append(all, diag.Silence{Message: fmt.Sprintf(format, args...), Location: at})
	}
	for _, was := range before.Policies {
		switch is := func(p Policy) bool { return p.Pack == was.Pack && p.Dir == was.Dir }; {
		case slices.ContainsFunc(c.Policies, is):
		case was.Pack != "":
			add(c.fieldPlace("policies"), "the pack %s is off", was.Pack)
		default:
			add(c.fieldPlace("policies"), "rules are not read any more: %s", was.Dir)
		}
	}
	for i := range before.Custom {
		was := &before.Custom[i]
		at := c.customAt(was.ID)
		switch {
		case at < 0:
			add(c.fieldPlace("custom"), "rule %s is gone", was.ID)
		case !c.Custom[at].same(was):
			add(c.Custom[at].span, "rule %s has other parameters or another scope, and may find less", was.ID)
		}
	}
	keys := slices.Concat(c.ruleKeys, before.ruleKeys)
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		is, was := c.Rules[key], before.Rules[key]
		if !is.Params.same(was.Params) {
			add(c.keyPlace(key), "rule %s has other parameters, and may find less", key)
		}
		if is.Scope != nil && !reflect.DeepEqual(is.Scope, was.Scope) {
			add(c.keyPlace(key), "rule %s has another scope, and may find less", key)
		}
	}
	return all
}

// same reports whether two rules have the same findings, if their levels are equal.
func (c *Custom) same(o *Custom) bool {
	return c.Use == o.Use && c.Params.same(o.Params) && (c.Scope == nil || reflect.DeepEqual(c.Scope, o.Scope))
}

func (p *Params) same(o *Params) bool {
	var is, was map[string]any
	if p != nil {
		is = p.Values
	}
	if o != nil {
		was = o.Values
	}
	return len(is) == 0 && len(was) == 0 || reflect.DeepEqual(is, was)
}

// loosenedScopes reports scopes that may lower levels, and removed scopes that may have raised
// them.
func (c *Config) loosenedScopes(before *Config) []diag.Silence {
	var all []diag.Silence
	add := func(at diag.Span, s *Scoped, what string) {
		all = append(all, diag.Silence{Message: "a scope " + what + ": " + s.what(), Location: at})
	}
	for i := range c.Scopes {
		if s := &c.Scopes[i]; !s.all(diag.LevelError) && !slices.ContainsFunc(before.Scopes, s.same) {
			add(s.place, s, "sets levels")
		}
	}
	for i := range before.Scopes {
		if s := &before.Scopes[i]; !s.all(diag.LevelOff) && !slices.ContainsFunc(c.Scopes, s.same) {
			add(c.fieldPlace("scopes"), s, "is gone")
		}
	}
	if len(all) == 0 && len(c.Scopes) == len(before.Scopes) && !slices.EqualFunc(c.Scopes, before.Scopes, func(a, b Scoped) bool { return a.same(b) }) {
		all = append(all, diag.Silence{Message: "the scopes are in another order, and the last one that fits counts", Location: c.fieldPlace("scopes")})
	}
	return all
}

// all reports whether a scope sets no level other than the given one.
func (s *Scoped) all(level diag.Level) bool {
	for _, l := range s.Rules {
		if l.Level != level {
			return false
		}
	}
	return true
}

func (s *Scoped) same(o Scoped) bool {
	return reflect.DeepEqual(s.Scope, o.Scope) && maps.Equal(s.Rules, o.Rules) && slices.Equal(s.keys, o.keys)
}

// what describes in words the selection of a scope and the levels that it sets.
func (s *Scoped) what() string {
	var parts, levels []string
	for _, p := range []struct {
		name  string
		globs []string
	}{{"namespace", s.Namespaces}, {"kind", s.Kinds}, {"name", s.Names}, {"cluster", s.Clusters}, {"path", s.Paths}} {
		if len(p.globs) > 0 {
			parts = append(parts, p.name+" "+strings.Join(p.globs, " or "))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
		parts = append(parts, "label "+k+"="+s.Labels[k])
	}
	if s.MinPods != nil {
		parts = append(parts, fmt.Sprintf("at least %d pods", *s.MinPods))
	}
	if s.MaxPods != nil {
		parts = append(parts, fmt.Sprintf("at most %d pods", *s.MaxPods))
	}
	for _, key := range s.keys {
		levels = append(levels, key+" "+string(s.Rules[key].Level))
	}
	return strings.Join(parts, ", ") + " (" + strings.Join(levels, ", ") + ")"
}

// rulePlace returns the location of the level of a rule in the configuration.
func (c *Config) rulePlace(id string) diag.Span {
	if at, ok := c.places[id]; ok {
		return at
	}
	for _, key := range slices.Backward(c.ruleKeys) {
		if matchesRule(key, id) {
			return c.places[key]
		}
	}
	if i := c.customAt(id); i >= 0 {
		return c.Custom[i].span
	}
	return c.fieldPlace("rules")
}

func (c *Config) keyPlace(key string) diag.Span {
	return cmp.Or(c.places[key], c.fieldPlace("rules"))
}
