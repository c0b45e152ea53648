package rego

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Size limits for a rule's METADATA and configuration. The title and description are not limited.
const (
	maxTags    = 20
	maxWord    = 63   // bytes per tag
	maxOwner   = 200  // bytes
	maxAddress = 2000 // bytes in a runbook address
)

// customKey is a key under custom in METADATA. The read function returns the problems with the
// key's value.
type customKey struct {
	name string
	read func(n *notes, value any) []string
}

// customKeys returns the keys in the order in which to read them. The key "asks" comes after
// "params", because it refers to parameters. The key "level" comes after "category", because it
// overrides the category's level.
func customKeys() []customKey {
	return []customKey{
		{"category", readCategory},
		{"since", one(func(n *notes, v any) error { return textKey(&n.Since, v, "a version such as v0.1.0") })},
		{"level", one(readLevel)},
		{"params", func(n *notes, v any) (problems []string) {
			r := &schemaReader{}
			s := r.schema("custom.params", v)
			if len(r.problems) == 0 && s.open {
				r.say("custom.params", "has additionalProperties; name the parameters under properties")
			}
			if len(r.problems) == 0 && s.kind != "object" {
				r.say("custom.params", "is of type %s; expected type: object with properties", s.kind)
			}
			n.params, problems = s, r.problems
			return problems
		}},
		{"asks", one(readAsks)},
		{"replaces", one(func(n *notes, v any) error {
			if v != n.ID {
				return fmt.Errorf("%s; expected %s, the id of the rule itself: it replaces the built-in rule of that id", found(v), n.ID)
			}
			n.Replaces = n.ID
			return nil
		})},
		{"template", one(func(n *notes, v any) (err error) {
			var ok bool
			if n.Template, ok = v.(bool); !ok {
				err = fmt.Errorf("%s; expected true or false", found(v))
			}
			return err
		})},
		{"owner", one(func(n *notes, v any) error { return cmp.Or(textKey(&n.Owner, v, "a name"), ownerError(n.Owner)) })},
		{"runbook", one(func(n *notes, v any) error {
			return cmp.Or(textKey(&n.Runbook, v, webAddress), runbookError(n.Runbook))
		})},
		{"tags", one(readTags)},
		{"untested", one(func(n *notes, v any) (err error) { n.untested, err = untestedOf(v); return err })},
	}
}

// one wraps a read function that returns a single error. The wrapper returns a list of problems
// instead.
func one(read func(*notes, any) error) func(*notes, any) []string {
	return func(n *notes, value any) []string {
		if err := read(n, value); err != nil {
			return []string{err.Error()}
		}
		return nil
	}
}

// custom reads the keys under custom in METADATA and returns any problems with them.
func custom(n *notes, values map[string]any) (problems []string) {
	names := lists.Of(customKeys(), func(k customKey) string { return k.name })
	for _, key := range sorting.Keys(values) {
		if !slices.Contains(names, key) {
			problems = append(problems, fmt.Sprintf("has the unknown key custom.%s%s; there are %s",
				cut(key), near(key, names), strings.Join(names, ", ")))
		}
	}
	for _, k := range customKeys() {
		value, given := values[k.name]
		if !given && k.name != "category" {
			continue
		}
		for _, problem := range k.read(n, value) {
			if !strings.HasPrefix(problem, "has ") {
				problem = "has custom." + k.name + " " + problem
			}
			problems = append(problems, problem)
		}
	}
	return problems
}

func readCategory(n *notes, value any) []string {
	var names []string
	for _, c := range categories {
		if value == c.name {
			n.Category, n.Level = c.name, c.level
			return nil
		}
		names = append(names, c.name)
	}
	if value == nil {
		return []string{"has no custom.category; it is one of " + strings.Join(names, ", ")}
	}
	name, _ := value.(string)
	return []string{fmt.Sprintf("%s%s; it is one of %s", found(value), near(name, names), strings.Join(names, ", "))}
}

func readLevel(n *notes, value any) error {
	names := []string{"error", "warning", "note", "off"}
	name, _ := value.(string)
	if !slices.Contains(names, name) {
		return fmt.Errorf("%s%s; it is one of %s", found(value), near(name, names), strings.Join(names, ", "))
	}
	n.Level = diag.Level(name)
	return nil
}

// textKey reads a non-empty, single-line string.
func textKey(into *string, value any, expected string) error {
	text, ok := value.(string)
	if text = strings.TrimSpace(text); !ok || text == "" || strings.ContainsAny(text, "\r\n") {
		return fmt.Errorf("%s; expected %s", found(value), expected)
	}
	*into = text
	return nil
}

func ownerError(owner string) error {
	if len(owner) > maxOwner || strings.ContainsAny(owner, "\r\n") {
		return fmt.Errorf("%q; expected one line of at most %d bytes", cut(owner), maxOwner)
	}
	return nil
}

const webAddress = "an address such as https://runbooks.example.com/x"

func runbookError(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
		len(address) > maxAddress || strings.ContainsAny(address, " \t\"<>\\^`{|}") {
		return fmt.Errorf("%q; expected %s", cut(address), webAddress)
	}
	return nil
}

var tagForm = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func readTags(n *notes, value any) error {
	list, ok := value.([]any)
	if !ok || len(list) > maxTags {
		return fmt.Errorf("%s; expected a list of at most %d words", found(value), maxTags)
	}
	for _, v := range list {
		tag, _ := v.(string)
		if len(tag) > maxWord || !tagForm().MatchString(tag) {
			return fmt.Errorf("with %s; expected lower-case words with hyphens", found(v))
		}
		if !slices.Contains(n.Tags, tag) {
			n.Tags = append(n.Tags, tag)
		}
	}
	return nil
}

// ask is a question about losing nodes. Exactly one field is set. The field survive is a topology
// key. The field param is the name of a parameter that contains topology keys.
type ask struct{ survive, param string }

func readAsks(n *notes, value any) error {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("%s; expected %s", found(value), askForm)
	}
	for _, v := range list {
		a, err := askOf(n, v)
		if err != nil {
			return err
		}
		n.asks = append(n.asks, a)
	}
	return nil
}

const askForm = "a list such as [{survive: zone}] or [{survive: {param: key}}]"

func askOf(n *notes, value any) (ask, error) {
	entry, _ := value.(map[string]any)
	if len(entry) != 1 || entry["survive"] == nil {
		return ask{}, fmt.Errorf("with %s; expected %s", found(value), askForm)
	}
	if key, ok := entry["survive"].(string); ok {
		return ask{survive: key}, surviveError(key)
	}
	of, _ := entry["survive"].(map[string]any)
	name, _ := of["param"].(string)
	if len(of) != 1 || name == "" {
		return ask{}, fmt.Errorf("with survive %s; expected a key or {param: NAME}", found(entry["survive"]))
	}
	var p *schema
	if n.params != nil {
		p = n.params.properties[name]
	}
	// The parameter must be a string or a list of strings.
	if p == nil || p.kind != "string" && (p.kind != "array" || p.items == nil || p.items.kind != "string") {
		return ask{}, fmt.Errorf("with the parameter %s; expected one of custom.params that is a string or a list of strings", cut(name))
	}
	return ask{param: name}, nil
}

func surviveError(key string) error {
	if _, err := config.TopologyKey(key); err != nil {
		return fmt.Errorf("with survive %q; %w", cut(key), err)
	}
	return nil
}

// maxInstances is the maximum number of instances. It limits the cost of evaluation, because each
// instance has its own step budget.
const maxInstances = 1000

// instances adds a rule for each instance and returns all errors it finds.
func (e *Engine) instances(all []Instance) error {
	if len(all) > maxInstances {
		return all[maxInstances].error("expected at most %d rules that use templates, found %d", maxInstances, len(all))
	}
	var errs []error
	for i := range all {
		r, err := e.instance(&all[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		e.rules = append(e.rules, r)
	}
	return errors.Join(errs...)
}

func (e *Engine) instance(i *Instance) (*rule, error) {
	base := e.find(i.Use)
	other := e.find(i.ID)
	switch {
	case !regexp.MustCompile(idForm).MatchString(i.ID):
		return nil, i.error("the id %q is not made of lower-case words with hyphens between them", cut(i.ID))
	case other != nil && other.instance != nil:
		return nil, i.error("%s exists already, at %s; choose another id", i.ID, other.instance.Place)
	case other != nil:
		return nil, i.error("a rule has the id %s already; choose another id", i.ID)
	case base == nil:
		var usable []string
		for _, r := range e.rules {
			if r.usable() {
				usable = append(usable, r.id)
			}
		}
		return nil, i.error("%s uses the unknown template %s%s", i.ID, cut(i.Use), near(i.Use, usable))
	case base.instance != nil:
		return nil, i.error("%s uses %s, which uses %s itself; use that one", i.ID, i.Use, base.instance.Use)
	case !base.usable():
		return nil, i.error("%s uses %s, which takes no parameters; give it a level under rules:", i.ID, i.Use)
	}
	if err := cmp.Or(ownerError(i.Owner), runbookError(i.Runbook)); err != nil {
		return nil, i.error("%s has the owner or runbook %v", i.ID, err)
	}
	if strings.ContainsAny(i.Title, "\r\n") {
		return nil, i.error("%s has a title of several lines; give one", i.ID)
	}
	return &rule{id: i.ID, code: base.code, instance: i}, nil
}

// error returns an error that starts with the instance's position in the configuration.
func (i *Instance) error(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if i.Place != "" {
		message = i.Place + ": " + message
	}
	return errors.New(message)
}

// usable reports whether an instance may be based on the rule.
func (r *rule) usable() bool { return r.instance == nil && (r.template || r.schema() != nil) }

// parameters sets the parameters of every rule and returns all errors it finds.
func (e *Engine) parameters(given map[string]Values, shared []Shared) error {
	var errs []error
	for _, id := range sorting.Keys(given) {
		if e.find(id) == nil {
			errs = append(errs, atValues(given[id], "rules."+cut(id)+".params: unknown rule"+near(id, e.ids)))
		}
	}
	for i := range shared {
		errs = append(errs, e.shareable(&shared[i])...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, r := range e.rules {
		if _, named := given[r.id]; r.off && !named && !r.own {
			continue // parsing the annotations of every pack would take longer than most runs
		}
		if err := r.parameters(r.over(shared, given[r.id])); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// atValues returns an error that starts with the position of the parameters.
func atValues(v Values, message string) error {
	if v.At != nil && v.At() != "" {
		message = v.At() + ": " + message
	}
	return errors.New(message)
}

// parameters sets a rule's parameters. The parameters in "given" override those of the rule's
// instance. All other parameters get their default values.
func (r *rule) parameters(given Values) error {
	name := "rules." + r.id + ".params"
	schema := r.schema()
	switch {
	case r.isTemplate() && given.Values != nil:
		return atValues(given, fmt.Sprintf("%s: %s is a template and never runs; give parameters to the rules that use it", name, r.id))
	case schema == nil && len(given.Values) > 0:
		return atValues(given, name+": the rule takes no parameters")
	case r.instance != nil:
		if given.Values == nil {
			name = "custom." + r.id + ".params"
		}
		given = given.over(r.instance.Params, r.instance.Place)
		if schema == nil && len(given.Values) > 0 {
			return atValues(given, fmt.Sprintf("%s: template %s takes no parameters", name, r.code.id))
		}
	case r.off && given.Values == nil: // a rule that is off does not need its required parameters
		return nil
	}
	if schema == nil {
		return nil
	}
	var err error
	r.configured = r.configured || given.Values != nil
	unset := r.own && r.instance == nil && given.At == nil // the configuration does not mention the rule
	if unset {
		given.At = func(...string) string { return r.file + ":1" }
	}
	if r.params, err = schema.fit(name, given); err != nil {
		if unset {
			err = errors.Join(err, fmt.Errorf("%s:1: set the parameters of %s in the configuration, or give the rule template: true and use it in an entry of custom", r.file, r.id))
		}
		return err
	}
	for _, a := range r.notes().asks {
		for _, key := range r.asked(a) {
			if err := surviveError(key); err != nil {
				return atValues(given, fmt.Sprintf("%s.%s: %v", name, a.param, err))
			}
		}
	}
	return nil
}

// isTemplate reports whether the rule is a template, which never runs on its own.
func (r *rule) isTemplate() bool { return r.template && r.instance == nil }

// meta returns the rule's annotation after applying the overrides from the configuration.
func (r *rule) meta() diag.Rule {
	m := r.notes().Rule
	i := r.instance
	if i == nil {
		return m
	}
	m.ID, m.Use, m.Template, m.Pack, m.Replaces, m.Params = i.ID, i.Use, false, "", "", nil
	m.Title, m.Description = cmp.Or(i.Title, m.Title), cmp.Or(i.Description, m.Description)
	m.Owner, m.Runbook = cmp.Or(i.Owner, m.Owner), cmp.Or(i.Runbook, m.Runbook)
	return m
}

// Losses returns the topology keys in all questions that Asks returns. The keys are sorted and
// distinct.
func (e *Engine) Losses() []string {
	var keys []string
	for _, a := range e.Asks() {
		if key, err := config.TopologyKey(a.Survive); err == nil { // Load has already checked the keys
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Asks returns the questions that the enabled rules declare. The questions are distinct and sorted
// by rule.
func (e *Engine) Asks() []Ask {
	var all []Ask
	for _, r := range e.rules {
		if r.off || !r.mentions("asks:") {
			continue
		}
		for _, a := range r.notes().asks {
			all = append(all, lists.Of(r.asked(a), func(key string) Ask { return Ask{Rule: r.id, Survive: key} })...)
		}
	}
	sorting.Stable(all, func(a, b Ask) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Survive, b.Survive)) })
	return slices.Compact(all)
}

// asked returns the topology keys in a question. The keys can come from the rule's parameters.
func (r *rule) asked(a ask) []string {
	if a.param == "" {
		return []string{a.survive}
	}
	value := r.params.Get(ast.StringTerm(a.param))
	if list, ok := value.Value.(*ast.Array); ok {
		var keys []string
		list.Foreach(func(t *ast.Term) { keys = append(keys, text(t)) })
		return keys
	}
	return []string{text(value)}
}

// Params returns a rule's parameters as the rule receives them, encoded as JSON. It returns the
// defaults if the rule is off, or nil if it has no parameters.
func (e *Engine) Params(id string) ([]byte, error) {
	r := e.find(id)
	if r == nil {
		return nil, nil
	}
	params, err := r.params, error(nil)
	if params == nil && r.usable() && r.notes().params != nil {
		params, err = r.notes().params.fit("rules."+id+".params", Values{})
	}
	if params == nil || err != nil {
		return nil, err
	}
	value, err := ast.JSON(params.Value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// Source returns a rule's source, or "" if the rule does not exist.
func (e *Engine) Source(id string) string {
	if r := e.find(id); r != nil {
		return r.text
	}
	return ""
}
