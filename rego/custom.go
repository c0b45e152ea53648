package rego

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
)

// Bounds of the METADATA and the configuration of a rule, except its texts.
const (
	maxTags    = 20
	maxWord    = 63   // bytes of a tag
	maxOwner   = 200  // bytes
	maxAddress = 2000 // bytes of a runbook
)

// customKey is a key of custom with its reader, which returns what was expected instead.
type customKey struct {
	name string
	read func(n *notes, value any) []string
}

// customKeys returns the keys in the order of their dependencies: asks refers to params, and level
// overrides the level of category.
func customKeys() []customKey {
	return []customKey{
		{"category", readCategory},
		{"since", one(func(n *notes, v any) error { return textKey(&n.Since, v, "a version such as v0.1.0") })},
		{"level", one(readLevel)},
		{"params", func(n *notes, v any) (problems []string) { n.params, problems = paramsOf(v); return problems }},
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

// one converts a reader with at most one error. The caller adds the name of the key.
func one(read func(*notes, any) error) func(*notes, any) []string {
	return func(n *notes, value any) []string {
		if err := read(n, value); err != nil {
			return []string{err.Error()}
		}
		return nil
	}
}

// custom reads the keys below custom and returns the problems with them.
func custom(n *notes, values map[string]any) (problems []string) {
	var names []string
	for _, k := range customKeys() {
		names = append(names, k.name)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
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
	for _, c := range categories() {
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

// textKey reads one line.
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

var tagForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func readTags(n *notes, value any) error {
	list, ok := value.([]any)
	if !ok || len(list) > maxTags {
		return fmt.Errorf("%s; expected a list of at most %d words", found(value), maxTags)
	}
	for _, v := range list {
		tag, _ := v.(string)
		if len(tag) > maxWord || !tagForm.MatchString(tag) {
			return fmt.Errorf("with %s; expected lower-case words with hyphens", found(v))
		}
		if !slices.Contains(n.Tags, tag) {
			n.Tags = append(n.Tags, tag)
		}
	}
	return nil
}

// ask is a question about the loss of nodes: a key, or the parameter that names keys.
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
	// a string, or a list of strings
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
