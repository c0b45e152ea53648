package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Level returns a rule's level, ignoring scopes. base is the level that the rule itself declares.
// The rules section overrides the custom section, and an id overrides a glob. If several globs
// match, the last one in the file wins.
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

// ScopedLevel returns the most severe level that any scope sets for a rule, or "" if no scope
// enables the rule.
func (c *Config) ScopedLevel(rule string) (worst diag.Level) {
	for i := range c.Scopes {
		if level := c.Scopes[i].level(rule); level.Rank() > worst.Rank() {
			worst = level
		}
	}
	return worst
}

// LevelOf returns the level of a finding. base is the level that the rule itself declares. If the
// rule has a scope, the level is off for findings that the scope does not select.
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

// Scoped reports whether a rule may have different levels for different objects.
func (c *Config) Scoped(rule string) bool {
	return c.scopeOf(rule) != nil || slices.ContainsFunc(c.Scopes, func(s Scoped) bool { return s.level(rule) != "" })
}

// scopeOf returns a rule's scope, or nil. A scope in the rules section overrides a scope in the
// custom section. A scope for an id overrides a scope for a glob.
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

// level returns the level that a scope sets for a rule, or "".
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

// matchesRule reports whether a key in the rules section applies to a rule.
func matchesRule(key, rule string) bool {
	if !isGlob(key) {
		return key == rule
	}
	ok, _ := doublestar.Match(key, rule)
	return ok
}

// GlobParams holds the parameters that the configuration sets for a glob in the rules section.
type GlobParams struct {
	Key string
	*Params
}

// Matches reports whether the glob applies to a rule.
func (g GlobParams) Matches(id string) bool { return matchesRule(g.Key, id) }

// GlobParams returns the parameters set for globs, in file order.
func (c *Config) GlobParams() (all []GlobParams) {
	for _, key := range c.ruleKeys {
		if p := c.Rules[key].Params; p != nil && isGlob(key) {
			all = append(all, GlobParams{key, p})
		}
	}
	return all
}

// Mentions reports whether the custom or rules section has an entry that applies to a rule.
func (c *Config) Mentions(rule string) bool {
	return c.customAt(rule) >= 0 || slices.ContainsFunc(c.ruleKeys, func(key string) bool { return matchesRule(key, rule) })
}

// eachKey calls visit for each key in the rules and scopes sections, with the key's level and
// location.
func (c *Config) eachKey(visit func(key string, level diag.Level, at diag.Span)) {
	for _, key := range c.ruleKeys {
		visit(key, c.Rules[key].Level.Level, c.places[key])
	}
	for i := range c.Scopes {
		for _, key := range c.Scopes[i].keys {
			visit(key, c.Scopes[i].Rules[key].Level, c.scopePlaces[fmt.Sprintf("%d %s", i, key)])
		}
	}
}

// UnknownRules returns an error for each key in the rules and scopes sections that matches none of
// the ids. The ids do not include templates, because templates never run.
func (c *Config) UnknownRules(ids []string) (errs []error) {
	c.eachKey(func(key string, _ diag.Level, at diag.Span) {
		if slices.ContainsFunc(ids, func(id string) bool { return matchesRule(key, id) }) {
			return
		}
		what := "unknown rule " + key
		if isGlob(key) {
			what = "no rule matches " + key
		}
		errs = append(errs, fmt.Errorf("%s: %s%s", place(c.file, at), what, diag.Question(diag.Nearest(key, ids))))
	})
	return errs
}

// OffPacks returns an error for each key in the rules and scopes sections that matches only rules
// in disabled packs. Such a key has no effect. A key that turns these rules off is not an error.
// The given function returns the disabled pack that contains a rule, or "".
func (c *Config) OffPacks(ids []string, of func(id string) string) (errs []error) {
	c.eachKey(func(key string, level diag.Level, at diag.Span) {
		var packs []string
		for _, id := range ids {
			if !matchesRule(key, id) {
				continue
			}
			pack := of(id)
			if pack == "" || c.Off(id, "") {
				return
			}
			packs = append(packs, pack)
		}
		if level == diag.LevelOff || len(packs) == 0 {
			return
		}
		what := key + " is a rule of a pack that is off"
		if isGlob(key) {
			what = key + " matches only rules of packs that are off"
		}
		slices.Sort(packs)
		errs = append(errs, fmt.Errorf("%s: %s: add - pack: %s to policies", place(c.file, at), what, strings.Join(slices.Compact(packs), " or - pack: ")))
	})
	return errs
}

func (l *loader) glob(k *source.Node, path string) {
	if !doublestar.ValidatePattern(k.Value) {
		l.fail(l.at(k), "%s: %q is not a valid glob", path, k.Value)
	}
}

// Scope selects findings by their subjects (see About). All keys that are set must match. A list
// matches if any of its items matches.
type Scope struct {
	// Namespaces, Kinds, Names and Clusters are globs. Paths are globs that match files and
	// directories, relative to the configuration. Renders are globs that match the names of renders
	// and of overlays, and the directories that contain them.
	Namespaces []string `json:"namespaces"`
	Kinds      []string `json:"kinds"`
	Names      []string `json:"names"`
	Clusters   []string `json:"clusters"`
	Paths      []string `json:"paths"`
	Renders    []string `json:"renders"`
	// Labels lists labels that the object or its pods must have.
	Labels map[string]string `json:"labels"`
	// MinPods and MaxPods select workloads by their maximum pod count. A nil value sets no limit.
	MinPods *int `json:"min-pods"`
	MaxPods *int `json:"max-pods"`
}

// About describes the subject of a finding: an object, a pool or a file. Scopes select findings by
// these properties.
type About struct {
	// Object is zero if the subject is not an object.
	Object diag.Object
	// Global is set for cluster-wide objects, which have no namespace.
	Global bool
	// Labels are the labels of the object. PodLabels are the labels of its pods.
	Labels, PodLabels map[string]string
	// Workload is set for an object that creates pods. Pods is its maximum pod count, or
	// UnknownPods.
	Workload bool
	Pods     int
	// Cluster is the cluster's name in the configuration. File is relative to the configuration.
	// Render and Branch name the render and the overlay that the finding is about, if any.
	Cluster, File, Render, Branch string
}

// UnknownPods means that the pod count is unknown. It is larger than any limit.
const UnknownPods = math.MaxInt

// Has reports whether a scope selects the subject that a describes. A scope with namespaces, kinds,
// names, labels or pod counts selects only objects. If an object is namespaced but sets no
// namespace, it counts as being in the default namespace.
func (s *Scope) Has(a *About) bool {
	return (!s.selectsObjects() || a.Object != diag.Object{}) &&
		(len(s.Namespaces) == 0 || !a.Global && anyGlob(s.Namespaces, cmp.Or(a.Object.Namespace, "default"))) &&
		anyGlob(s.Kinds, a.Object.Kind) && anyGlob(s.Names, a.Object.Name) &&
		anyGlob(s.Clusters, a.Cluster) && (len(s.Paths) == 0 || matchesAny(s.Paths, a.File)) &&
		(len(s.Renders) == 0 || matchesAny(s.Renders, a.Render) || matchesAny(s.Renders, a.Branch)) &&
		(holds(s.Labels, a.Labels) || holds(s.Labels, a.PodLabels)) &&
		(s.MinPods == nil || a.Workload && a.Pods >= *s.MinPods) &&
		(s.MaxPods == nil || a.Workload && a.Pods <= *s.MaxPods)
}

// selectsObjects reports whether a scope has any keys other than clusters, paths and renders.
func (s *Scope) selectsObjects() bool {
	return len(s.Namespaces)+len(s.Kinds)+len(s.Names)+len(s.Labels) > 0 || s.MinPods != nil || s.MaxPods != nil
}

// holds reports whether labels includes all labels in want.
func holds(want, labels map[string]string) bool {
	for k, v := range want {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// scopeKeys lists a scope's keys for use in messages.
const scopeKeys = "namespaces, kinds, names, clusters, paths, renders, labels, min-pods or max-pods"

// scope checks what the Scope type cannot enforce.
func (l *loader) scope(item *source.Node, s *Scope, path string) {
	if !s.selectsObjects() && len(s.Clusters)+len(s.Paths)+len(s.Renders) == 0 {
		l.fail(l.at(item), "%s: the scope selects everything; give one of %s", path, scopeKeys)
	}
	l.selection(item, path, "expected a glob; leave the key out to select all", "namespaces", "kinds", "names", "clusters", "paths", "renders")
	for _, bound := range []struct {
		key string
		n   *int
	}{{"min-pods", s.MinPods}, {"max-pods", s.MaxPods}} {
		if k, _ := item.Field(bound.key); bound.n != nil && *bound.n < 1 {
			l.fail(l.at(k), "%s.%s: expected at least 1, found %d", path, bound.key, *bound.n)
		}
	}
	if s.MinPods != nil && s.MaxPods != nil && *s.MinPods > *s.MaxPods {
		l.fail(l.at(item.Get("max-pods")), "%s: min-pods is %d and max-pods is %d, so the scope selects nothing", path, *s.MinPods, *s.MaxPods)
	}
}
