package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Level returns the level of a rule that applies to all objects; base is the level of the rule
// itself. Entries of rules override custom, and an id overrides a glob; of several globs the last
// one in the file wins.
func (c *Config) Level(rule string, base diag.Level) diag.Level {
	if i := c.customAt(rule); i >= 0 && c.Custom[i].Level.Level != "" {
		base = c.Custom[i].Level.Level
	}
	for _, key := range c.ruleKeys {
		if level := c.Rules[key].Level.Level; level != "" && key != rule && matchesRule(key, rule) {
			base = level
		}
	}
	if level := c.Rules[rule].Level.Level; level != "" {
		base = level
	}
	return base
}

// Off reports whether a rule is off for every object.
func (c *Config) Off(rule string, base diag.Level) bool {
	return c.Level(rule, base) == diag.LevelOff && c.ScopedLevel(rule) == ""
}

// ScopedLevel returns the worst level that a scope gives a rule; "" if no scope enables it.
func (c *Config) ScopedLevel(rule string) (worst diag.Level) {
	for i := range c.Scopes {
		if level := c.Scopes[i].level(rule); level.Rank() > worst.Rank() {
			worst = level
		}
	}
	return worst
}

// LevelOf returns the level of a finding of a rule; base is the level that the rule itself gives
// it. The level off drops the finding, as does a scope of the rule that does not select it.
func (c *Config) LevelOf(rule string, base diag.Level, a *About) diag.Level {
	if s := c.scopeOf(rule); s != nil && !s.Has(a) {
		return diag.LevelOff
	}
	level := c.Level(rule, base)
	for i := range c.Scopes {
		if said := c.Scopes[i].level(rule); said != "" && c.Scopes[i].Has(a) {
			level = said
		}
	}
	return level
}

// Scoped reports whether the level of a rule's findings depends on their subject.
func (c *Config) Scoped(rule string) bool {
	return c.scopeOf(rule) != nil || slices.ContainsFunc(c.Scopes, func(s Scoped) bool { return s.level(rule) != "" })
}

// scopeOf returns the scope of a rule, or nil if it has no scope. The scope in rules overrides that in
// custom, and that of an id overrides that of a glob.
func (c *Config) scopeOf(rule string) *Scope {
	if s := c.Rules[rule].Scope; s != nil {
		return s
	}
	for _, key := range slices.Backward(c.ruleKeys) {
		if s := c.Rules[key].Scope; s != nil && matchesRule(key, rule) {
			return s
		}
	}
	if i := c.customAt(rule); i >= 0 && c.Custom[i].Scope != nil {
		return c.Custom[i].Scope
	}
	return nil
}

// level returns the level that a scope sets for a rule; "" if it sets none.
func (s *Scoped) level(rule string) (level diag.Level) {
	if exact, ok := s.Rules[rule]; ok {
		return exact.Level
	}
	for _, key := range s.keys {
		if matchesRule(key, rule) {
			level = s.Rules[key].Level
		}
	}
	return level
}

func (c *Config) customAt(id string) int {
	return slices.IndexFunc(c.Custom, func(r Custom) bool { return r.ID == id })
}

// matchesRule reports whether a key of rules applies to a rule.
func matchesRule(key, rule string) bool {
	if !isGlob(key) {
		return key == rule
	}
	ok, _ := doublestar.Match(key, rule)
	return ok
}

// GlobParams are parameters that a glob of rules sets.
type GlobParams struct {
	Key string
	*Params
}

// Matches reports whether the glob applies to a rule.
func (g GlobParams) Matches(id string) bool { return matchesRule(g.Key, id) }

// GlobParams returns the parameters of all globs, in the order of the file.
func (c *Config) GlobParams() (all []GlobParams) {
	for _, key := range c.ruleKeys {
		if p := c.Rules[key].Params; p != nil && isGlob(key) {
			all = append(all, GlobParams{key, p})
		}
	}
	return all
}

// Mentions reports whether the configuration has an entry for a rule in custom or rules.
func (c *Config) Mentions(rule string) bool {
	return c.customAt(rule) >= 0 || slices.ContainsFunc(c.ruleKeys, func(key string) bool { return matchesRule(key, rule) })
}

// UnknownRules returns errors about keys of rules that match none of ids. Templates never run, so
// ids does not contain them.
func (c *Config) UnknownRules(ids []string) (errs []error) {
	check := func(key string, at diag.Span) {
		if slices.ContainsFunc(ids, func(id string) bool { return matchesRule(key, id) }) {
			return
		}
		what := "unknown rule " + key
		if isGlob(key) {
			what = "no rule matches " + key
		}
		if near := diag.Nearest(key, ids); near != "" {
			what += "; did you mean " + near + "?"
		}
		errs = append(errs, fmt.Errorf("%s: %s", place(c.file, at), what))
	}
	for _, key := range c.ruleKeys {
		check(key, c.places[key])
	}
	for i := range c.Scopes {
		for _, key := range c.Scopes[i].keys {
			check(key, c.scopePlaces[fmt.Sprintf("%d %s", i, key)])
		}
	}
	return errs
}

// OffPacks returns errors about keys of rules without effect, because all rules that they match
// belong to disabled packs. The function of returns the pack of such a rule, "" for any other. A
// key that turns rules off is no error.
func (c *Config) OffPacks(ids []string, of func(id string) string) (errs []error) {
	check := func(key string, level diag.Level, at diag.Span) {
		if packs := c.offPacks(key, ids, of); level != diag.LevelOff && len(packs) > 0 {
			what := key + " is a rule of a pack that is off"
			if isGlob(key) {
				what = key + " matches only rules of packs that are off"
			}
			errs = append(errs, fmt.Errorf("%s: %s: add - pack: %s to policies", place(c.file, at), what, strings.Join(packs, " or - pack: ")))
		}
	}
	for _, key := range c.ruleKeys {
		check(key, c.Rules[key].Level.Level, c.places[key])
	}
	for i := range c.Scopes {
		for _, key := range c.Scopes[i].keys {
			check(key, c.Scopes[i].Rules[key].Level, c.scopePlaces[fmt.Sprintf("%d %s", i, key)])
		}
	}
	return errs
}

// offPacks returns the packs of the rules that a key matches, if all of them are off because of
// their packs and none because of the configuration.
func (c *Config) offPacks(key string, ids []string, of func(id string) string) (packs []string) {
	for _, id := range ids {
		if !matchesRule(key, id) {
			continue
		}
		pack := of(id)
		if pack == "" || c.Off(id, "") {
			return nil
		}
		packs = append(packs, pack)
	}
	slices.Sort(packs)
	return slices.Compact(packs)
}

// glob checks a key of rules.
func (l *loader) glob(k *source.Node, path string) {
	if !doublestar.ValidatePattern(k.Value) {
		l.fail(l.at(k), "%s: %q is not a valid glob", path, k.Value)
	}
}
