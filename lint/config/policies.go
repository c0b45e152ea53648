package config

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/source"
)

// Policy names a source of rules: a built-in pack, or a folder with the team's own rules.
type Policy struct {
	Pack string `json:"pack"`
	Dir  string `json:"dir"`

	// Place is the location of the entry, as file:line:column.
	Place string `json:"-"`
}

// Custom defines a rule that is created from a template or from another rule with parameters.
type Custom struct {
	ID          string       `json:"id"`
	Use         string       `json:"use"`
	ParamsNode  *source.Node `json:"params"` // nil once Params is read
	Scope       *Scope       `json:"scope"`
	Level       Level        `json:"level"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Owner       string       `json:"owner"`
	Runbook     string       `json:"runbook"`

	Params *Params `json:"-"`
	// Place is the location of the rule's id, as file:line:column.
	Place string `json:"-"`
	span  diag.Span
}

// Rule holds the settings for a rule, or for all rules that match a glob.
type Rule struct {
	Level      Level        `json:"level"`  // empty to keep the rule's own level
	ParamsNode *source.Node `json:"params"` // nil once Params is read
	Scope      *Scope       `json:"scope"`

	Params *Params `json:"-"`
}

// Scoped sets rule levels for the findings that a scope selects.
type Scoped struct {
	Scope
	// Rules maps rule ids and globs of rule ids to levels.
	Rules map[string]Level `json:"rules"`

	place diag.Span
	keys  []string // keys of Rules, in file order
}

// Params holds a rule's parameters. Values are strings, numbers, booleans, null, lists and maps.
type Params struct {
	Values map[string]any

	node *source.Node
	at   func(*source.Node) string
}

// At returns the location of a value, as file:line:column, or "" if there is no such value. path
// consists of map keys and list indices.
func (p *Params) At(path ...string) string {
	at := p.node
	shown := at
	for _, element := range path {
		i, err := strconv.Atoi(element)
		switch {
		case at.Kind == source.Map:
			shown, at = at.Field(element)
		case err == nil && at.Kind == source.Sequence && i >= 0 && i < at.Len():
			at = at.Items()[i]
			shown = at
		default:
			return ""
		}
		if at == nil {
			return ""
		}
	}
	return p.at(shown)
}

// params reads parameters. It returns nil if there are none.
func (l *loader) params(n *source.Node, path string) *Params {
	if n.IsNull() {
		return nil
	}
	if n.Kind != source.Map {
		l.fail(l.at(n), "%s: expected a map of parameters", path)
		return nil
	}
	return &Params{Values: n.Decoded(scalar).(map[string]any), node: n, at: func(n *source.Node) string { return place(l.path, l.at(n)) }}
}

// scalar returns the value of a scalar parameter.
func scalar(n *source.Node) any {
	switch {
	case n.Type == source.Bool:
		b, _ := n.Bool()
		return b
	case n.Type == source.Int || n.Type == source.Float:
		if i, ok := n.Int(); ok {
			return i
		}
		if f, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64); err == nil {
			return f
		}
	}
	return n.Value
}

// PolicyDirs returns the absolute paths of the folders that contain the team's own rules. Paths are
// resolved against the directory that the configuration was read from, even after At.
func (c *Config) PolicyDirs() []string {
	var all []string
	for _, p := range c.Policies {
		if p.Dir != "" {
			all = append(all, c.policyDir(p.Dir))
		}
	}
	return all
}

func (c *Config) policyDir(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(c.home, dir)
}

// MissingDirs returns an error for each folder of rules that does not exist.
func (c *Config) MissingDirs() (errs []error) {
	for i, p := range c.Policies {
		if p.Dir == "" {
			continue
		}
		info, err := os.Stat(c.policyDir(p.Dir))
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: policies[%d].dir: there is no folder %s", p.Place, i, p.Dir))
		case !info.IsDir():
			errs = append(errs, fmt.Errorf("%s: policies[%d].dir: %s is a file, expected a folder", p.Place, i, p.Dir))
		}
	}
	return errs
}

// Packs returns the names of the enabled packs.
func (c *Config) Packs() []string {
	var all []string
	for _, p := range c.Policies {
		if p.Pack != "" {
			all = append(all, p.Pack)
		}
	}
	return all
}

// policies checks the constraints that the Policy type cannot express.
func (l *loader) policies(root *source.Node, c *Config) {
	seen := map[Policy]bool{}
	for i, item := range root.Get("policies").Items() {
		p, path := &c.Policies[i], fmt.Sprintf("policies[%d]", i)
		at := l.at(item)
		for _, key := range []string{"pack", "dir"} {
			if _, v := item.Field(key); !v.IsNull() {
				at = l.at(v)
			}
		}
		switch {
		case p.Pack != "" && p.Dir != "":
			l.fail(l.at(item), "%s: pack and dir are given; make them two entries", path)
		case p.Pack == "" && p.Dir == "":
			l.fail(l.at(item), "%s: expected pack, a built-in pack, or dir, a folder with rules", path)
		case seen[*p]:
			l.fail(at, "%s: %s is named twice", path, p.Pack+p.Dir)
		}
		seen[*p] = true
		if p.Dir != "" {
			l.policyFiles(item.Get("dir"), c, path+".dir")
		}
		p.Place = place(l.path, at)
	}
}

// policyFiles checks that the configuration may name a folder and all rule files below it.
func (l *loader) policyFiles(dir *source.Node, c *Config, key string) {
	before := len(l.found)
	l.namedFile(dir, l.at(dir), c, key, "--rules", true)
	if c.bound == "" || len(l.found) > before {
		return
	}
	top := c.absolute(dir.Text())
	// Unreadable files are reported when the rules are loaded.
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".rego" {
			return nil
		}
		rel, _ := filepath.Rel(top, path)
		if err := c.check(filepath.Join(dir.Text(), rel), false); err != nil {
			l.fail(l.at(dir), "%s: %v", key, err)
			return fs.SkipAll
		}
		return nil
	})
}

// custom checks the constraints that the Custom type cannot express.
func (l *loader) custom(item *source.Node, c *Custom, path string, seen map[string]string) {
	c.Place, c.span = place(l.path, l.at(item)), l.at(item)
	if k, v := item.Field("id"); k != nil {
		c.Place, c.span = place(l.path, l.at(v)), l.file.FieldSpan(k, v)
	}
	switch {
	case c.ID == "":
		l.fail(l.at(item), "%s: expected an id", path)
	case seen[c.ID] != "":
		l.fail(l.at(item.Get("id")), "%s: the id %s is taken, at %s", path, c.ID, seen[c.ID])
	case c.Use == "":
		l.fail(l.at(item), "%s: expected use, the template or rule that %s is made of", path, c.ID)
	}
	seen[c.ID] = c.Place
	l.word(item, path)
	c.Params, c.ParamsNode = l.params(c.ParamsNode, path+".params"), nil
	if c.Scope != nil {
		l.scope(item.Get("scope"), c.Scope, path+".scope")
	}
}

// rules reads each rule's settings, which are either a level or a map.
func (l *loader) rules(root *source.Node, c *Config) {
	k, nodes := root.Field("rules")
	c.Rules, c.RuleNodes = map[string]Rule{}, nil
	if !nodes.IsNull() && nodes.Kind != source.Map {
		l.fail(l.at(k), "rules: expected a map")
	}
	for k, v := range nodes.Fields() {
		path := "rules." + k.Value
		l.glob(k, path)
		c.ruleKeys = append(c.ruleKeys, k.Value)
		if v.Kind != source.Map {
			c.Rules[k.Value] = Rule{Level: l.level(k, v, path)}
			continue
		}
		var r Rule
		for _, m := range (&source.Decoder{}).Decode(v, &r) {
			m.Path = path + "." + m.Path
			l.mismatch(m, nil)
		}
		l.word(v, path)
		if v.Len() == 0 {
			l.fail(l.at(v), "%s: expected one of level, params, scope", path)
		}
		r.Params, r.ParamsNode = l.params(r.ParamsNode, path+".params"), nil
		if r.Scope != nil {
			l.scope(v.Get("scope"), r.Scope, path+".scope")
		}
		c.Rules[k.Value] = r
	}
}

// level reads the level of a rule.
func (l *loader) level(k, v *source.Node, path string) (level Level) {
	if v == nil || v.Kind != source.Scalar || !slices.Contains(append(levels(), "false"), v.Value) || v.Quoted && v.Value == "false" {
		l.fail(l.at(k), "%s: expected one of %s", path, strings.Join(levels(), ", "))
		return level
	}
	level.Level = diag.LevelOff
	if v.Value != "false" {
		level.Level = diag.Level(v.Value)
	}
	return level
}

// word checks the level in a rule's map of settings, if the map has one.
func (l *loader) word(n *source.Node, path string) {
	if k, v := n.Field("level"); !v.IsNull() {
		l.level(k, v, path+".level")
	}
}

// scopes checks the constraints that the Scoped type cannot express.
func (l *loader) scopes(root *source.Node, c *Config) {
	for i, item := range root.Get("scopes").Items() {
		s, path := &c.Scopes[i], fmt.Sprintf("scopes[%d]", i)
		s.place = l.at(item)
		l.scope(item, &s.Scope, path)
		k, rules := item.Field("rules")
		if rules.IsNull() || rules.Kind == source.Map && rules.Len() == 0 {
			l.fail(l.at(cmp.Or(k, item)), "%s: expected rules with their levels", path)
		}
		for k, v := range rules.Fields() {
			l.glob(k, path+".rules."+k.Value)
			l.level(k, v, path+".rules."+k.Value)
			s.keys = append(s.keys, k.Value)
			c.scopePlaces[fmt.Sprintf("%d %s", i, k.Value)] = l.at(k)
		}
	}
}

var globForm = lazy.Regexp(`[*?\[\]{}\\]`)

// isGlob reports whether a key in the rules section is a glob.
func isGlob(key string) bool { return globForm().MatchString(key) }

// loosenedPolicies reports removed packs, rule folders and rules, as well as rules whose parameters
// or scopes have changed.
func (c *Config) loosenedPolicies(before *Config, add adder) {
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
		default:
			is := &c.Custom[at]
			if is.Use != was.Use || !is.Params.same(was.Params) || is.Scope != nil && !reflect.DeepEqual(is.Scope, was.Scope) {
				add(is.span, "rule %s has other parameters or another scope, and may find less", was.ID)
			}
		}
	}
	keys := slices.Concat(c.ruleKeys, before.ruleKeys)
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		is, was, at := c.Rules[key], before.Rules[key], cmp.Or(c.places[key], c.fieldPlace("rules"))
		if !is.Params.same(was.Params) {
			add(at, "rule %s has other parameters, and may find less", key)
		}
		if is.Scope != nil && !reflect.DeepEqual(is.Scope, was.Scope) {
			add(at, "rule %s has another scope, and may find less", key)
		}
	}
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

// loosenedScopes reports new scopes that may lower levels, removed scopes that may have raised
// levels, and a change in the order of scopes.
func (c *Config) loosenedScopes(before *Config, add adder) {
	differ := false
	for i := range c.Scopes {
		if s := &c.Scopes[i]; !s.all(diag.LevelError) && !slices.ContainsFunc(before.Scopes, s.same) {
			differ = true
			add(s.place, "a scope sets levels: %s", s.what())
		}
	}
	for i := range before.Scopes {
		if s := &before.Scopes[i]; !s.all(diag.LevelOff) && !slices.ContainsFunc(c.Scopes, s.same) {
			differ = true
			add(c.fieldPlace("scopes"), "a scope is gone: %s", s.what())
		}
	}
	if !differ && len(c.Scopes) == len(before.Scopes) && !slices.EqualFunc(c.Scopes, before.Scopes, func(a, b Scoped) bool { return a.same(b) }) {
		add(c.fieldPlace("scopes"), "the scopes are in another order, and the last one that fits counts")
	}
}

// all reports whether a scope sets only the given level.
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

// what describes the subjects that a scope selects and the levels that it sets.
func (s *Scoped) what() string {
	parts := words(s.Labels, selected{"namespace", s.Namespaces}, selected{"kind", s.Kinds}, selected{"name", s.Names},
		selected{"cluster", s.Clusters}, selected{"path", s.Paths}, selected{"render", s.Renders})
	var levels []string
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

// rulePlace returns the location where the configuration sets the level of a rule.
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
