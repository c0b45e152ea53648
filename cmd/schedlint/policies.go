package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// loadRules loads the built-in rules, those of folders and those of the configuration,
// and checks the rules that the configuration names against them.
func loadRules(dirs []string, conf *config.Config) (*rego.Engine, error) {
	return loadRulesOf(ruleSource{dirs: dirs}, conf)
}

func loadRulesOf(own ruleSource, conf *config.Config) (*rego.Engine, error) {
	if err := errors.Join(conf.MissingDirs()...); err != nil {
		return nil, err
	}
	opts := rego.Options{
		Rules: rules.FS, Dirs: own.with(conf), Shown: own.shown, Packs: conf.Packs(),
		Off: func(id string) bool { return !own.listed && conf.Off(id, "") }, Params: map[string]rego.Values{},
	}
	shared := conf.GlobParams()
	for _, g := range shared {
		opts.Shared = append(opts.Shared, rego.Shared{Key: g.Key, Matches: g.Matches, Values: values(g.Params)})
	}
	for id, rule := range conf.Rules {
		isGlob := slices.ContainsFunc(shared, func(g config.GlobParams) bool { return g.Key == id })
		if rule.Params != nil && !isGlob {
			opts.Params[id] = values(rule.Params)
		}
	}
	for _, c := range conf.Custom {
		opts.Instances = append(opts.Instances, rego.Instance{
			ID: c.ID, Use: c.Use, Title: c.Title, Description: c.Description, Owner: c.Owner, Runbook: c.Runbook,
			Params: values(c.Params), Place: c.Place,
		})
	}
	if len(opts.Dirs)+len(opts.Packs)+len(opts.Instances) > 0 {
		expectFacts()
	}
	engine, err := rego.Load(opts)
	if err != nil {
		return nil, fmt.Errorf("loading rules: %w", err)
	}
	return engine, errors.Join(append(unknownPacks(engine, conf), conf.UnknownRules(engine.IDs())...)...)
}

// values are parameters as rules take them.
func values(p *config.Params) rego.Values {
	if p == nil {
		return rego.Values{}
	}
	return rego.Values{Values: p.Values, At: p.At}
}

// with adds folders that the configuration names, each folder once, and written as the
// configuration itself is: that of another tree by its full path.
func (s ruleSource) with(conf *config.Config) []string {
	all := slices.Clone(s.dirs)
	file, _ := conf.Source()
	for _, dir := range conf.PolicyDirs() {
		if slices.ContainsFunc(all, func(other string) bool { return sameDir(other, dir) }) {
			continue
		}
		if s.shown == nil && !filepath.IsAbs(file) {
			dir = here(dir)
		}
		all = append(all, dir)
	}
	return all
}

// sameDir reports whether two paths lead to one folder.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// unknownPacks are errors about packs that do not exist, and about what is said of rules
// although their pack is off.
func unknownPacks(engine *rego.Engine, conf *config.Config) (errs []error) {
	packs, on := engine.Packs(), conf.Packs()
	for _, p := range conf.Policies {
		if p.Pack != "" && !slices.Contains(packs, p.Pack) {
			errs = append(errs, fmt.Errorf("%s: unknown pack %s%s", p.Place, p.Pack, question(diag.Nearest(p.Pack, packs), "")))
		}
	}
	return append(errs, conf.OffPacks(engine.IDs(), func(id string) string {
		pack, _, _ := strings.Cut(id, ".")
		if engine.Runs(id) || engine.Own(id) || !slices.Contains(packs, pack) || slices.Contains(on, pack) {
			return ""
		}
		return pack
	})...)
}

// effective tells what a configuration says of rules, or what they say themselves: off for
// one that is not evaluated, "" for one that does not exist or if there is no engine.
func effective(engine *rego.Engine, conf *config.Config) func(id string) diag.Level {
	if engine == nil {
		return func(string) diag.Level { return "" }
	}
	return func(id string) diag.Level {
		if engine.Runs(id) {
			return conf.Level(id, engine.Level(id))
		}
		return engine.Level(id)
	}
}

// enabled are the rules that ran, with their levels; one that is on only in a scope has
// the level that it has there.
func enabled(engine *rego.Engine, conf *config.Config) []diag.Rule {
	var all []diag.Rule
	for _, rule := range engine.Rules() {
		if conf.Off(rule.ID, rule.Level) {
			continue
		}
		if rule.Level = conf.Level(rule.ID, rule.Level); rule.Level == diag.LevelOff {
			rule.Level = conf.ScopedLevel(rule.ID)
		}
		all = append(all, rule)
	}
	return all
}
