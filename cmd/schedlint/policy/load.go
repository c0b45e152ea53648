package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// Dir is the default folder for a team's own rules.
const Dir = "policy"

// Source says where a team's own rules are.
type Source struct {
	Dirs []string
	// Shown returns the name to show for a folder in errors. If it is nil, errors show the folder's
	// path unchanged.
	Shown func(dir string) string
	// Listed is set if rules that the configuration turns off should be loaded too.
	Listed bool
}

// Load loads the built-in rules, the custom rules in the folders of own, and the rules defined in
// the configuration. It returns an error if the configuration refers to unknown rules.
func Load(own Source, conf *config.Config) (*rego.Engine, error) {
	if err := errors.Join(conf.MissingDirs()...); err != nil {
		return nil, err
	}
	opts := rego.Options{
		Rules: rules.FS, Dirs: own.with(conf), Shown: own.Shown, Packs: conf.Packs(),
		Off: func(id string) bool { return !own.Listed && conf.Off(id, "") }, Params: map[string]rego.Values{},
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
	engine, err := rego.Load(opts)
	if err != nil {
		return nil, fmt.Errorf("loading rules: %w", err)
	}
	return engine, errors.Join(append(unknownPacks(engine, conf), conf.UnknownRules(engine.IDs())...)...)
}

// values converts parameters from package config to package rego.
func values(p *config.Params) rego.Values {
	if p == nil {
		return rego.Values{}
	}
	return rego.Values{Values: p.Values, At: p.At}
}

// with returns the rule folders in s and in the configuration, without duplicates. It makes folders
// in the configuration relative to the working directory. They remain absolute if the path of the
// configuration is absolute, because the configuration then belongs to another tree.
func (s Source) with(conf *config.Config) []string {
	all := slices.Clone(s.Dirs)
	file, _ := conf.Source()
	for _, dir := range conf.PolicyDirs() {
		if slices.ContainsFunc(all, func(other string) bool { return sameDir(other, dir) }) {
			continue
		}
		if s.Shown == nil && !filepath.IsAbs(file) {
			dir = worktree.Here(dir)
		}
		all = append(all, dir)
	}
	return all
}

// sameDir reports whether two paths refer to the same folder.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// unknownPacks returns errors for packs that do not exist and for settings of rules whose pack is
// off.
func unknownPacks(engine *rego.Engine, conf *config.Config) (errs []error) {
	packs, on := engine.Packs(), conf.Packs()
	for _, p := range conf.Policies {
		if p.Pack != "" && !slices.Contains(packs, p.Pack) {
			errs = append(errs, fmt.Errorf("%s: unknown pack %s%s", p.Place, p.Pack, diag.Question(diag.Nearest(p.Pack, packs))))
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

// Effective returns the level that the configuration sets for a rule. Without such a level, it
// returns the rule's own level. It returns off if the rule does not run, and "" if the rule does
// not exist or engine is nil.
func Effective(engine *rego.Engine, conf *config.Config, id string) diag.Level {
	if engine == nil {
		return ""
	}
	if engine.Runs(id) {
		return conf.Level(id, engine.Level(id))
	}
	return engine.Level(id)
}

// Enabled returns the enabled rules with their levels. A rule that is enabled only in a scope takes
// its level from that scope.
func Enabled(engine *rego.Engine, conf *config.Config) []diag.Rule {
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

// Unknown returns an error about an unknown rule. It suggests the most similar rule id, if there is
// one.
func Unknown(engine *rego.Engine, id string) error {
	near := diag.Nearest(id, engine.IDs())
	if near == "" {
		return fmt.Errorf("unknown rule %s: schedlint rules lists them all", id)
	}
	return fmt.Errorf("unknown rule %s%s", id, diag.Question(near))
}

// Dirs returns the folders that a command works on: the arguments, else the folders in the
// configuration, else the default folder Dir. If the command has something else to work on, the
// default folder need not exist.
func Dirs(args []string, optional bool) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	conf, err := config.Choose("")
	if err != nil {
		return nil, err
	}
	dirs := (Source{}).with(conf)
	if _, err := os.Lstat(Dir); len(dirs) == 0 && (err == nil || !optional) {
		dirs = []string{Dir}
	}
	return dirs, nil
}
