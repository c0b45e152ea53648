package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/schedlint/schedlint/lint/lazy"
)

// functions are those of Helm, without a budget and without include and tpl. The ones that
// need no engine behave as in Helm, with these differences: keys and values are sorted,
// and what is in constants.go.
func (e *engine) functions() map[string]any {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	maps.Copy(all, e.constants.functions())
	maps.Copy(all, map[string]any{
		"toToml": func(v any) string {
			var text bytes.Buffer
			if err := toml.NewEncoder(&text).Encode(v); err != nil {
				return err.Error()
			}
			return text.String()
		},
		"toYaml": toYAML,
		"toYamlPretty": func(v any) string {
			var text bytes.Buffer
			to := goyaml.NewEncoder(&text)
			to.SetIndent(2)
			if to.Encode(v) != nil {
				return ""
			}
			return strings.TrimSuffix(text.String(), "\n")
		},
		"toJson": func(v any) string {
			text, _ := json.Marshal(v) // nil if that fails
			return string(text)
		},
		"fromToml":      tableFrom(toml.Unmarshal),
		"fromYaml":      tableFrom(unmarshalYAML),
		"fromYamlArray": listFrom(unmarshalYAML),
		"fromJson":      tableFrom(json.Unmarshal),
		"fromJsonArray": listFrom(json.Unmarshal),
		"lookup":        func(_, _, _, _ string) (map[string]any, error) { return map[string]any{}, nil },
		"getHostByName": func(string) string { return "" },
		"required":      required,
		"fail":          func(why string) (string, error) { return "", failure(why) },
		"typeOf":        typeOf,
		"typeIs":        typeIs,
		"typeIsLike":    typeIsLike,
		"keys":          sortedKeys,
		"values":        sortedValues,
		"print":         fmt.Sprint,
		"printf":        printf,
		"println":       fmt.Sprintln,
		"html":          template.HTMLEscaper,
		"js":            template.JSEscaper,
		"urlquery":      template.URLQueryEscaper,
	})
	return all
}

// failure is what a template says when it stops.
type failure string

func (f failure) Error() string { return string(f) }

func required(why string, value any) (any, error) {
	if value == nil || value == "" {
		return value, failure(why)
	}
	return value, nil
}

// address is a verb that prints where a value is in memory.
var address = lazy.Regexp(`%[^%a-zA-Z]*p`)

func printf(format string, args ...any) (string, error) {
	if address().MatchString(strings.ReplaceAll(format, "%%", "")) {
		return "", fmt.Errorf("%q prints an address, which is different each time", cut(format))
	}
	return fmt.Sprintf(format, args...), nil
}

func sortedKeys(dicts ...map[string]any) []string {
	all := []string{}
	for _, d := range dicts {
		all = append(all, slices.Sorted(maps.Keys(d))...)
	}
	return all
}

func sortedValues(dict map[string]any) []any {
	all := []any{}
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		all = append(all, dict[key])
	}
	return all
}

func toYAML(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}

func unmarshalYAML(text []byte, into any) error { return yaml.Unmarshal(text, into) }

// tableFrom and listFrom tell templates about errors in what they return.
func tableFrom(unmarshal func([]byte, any) error) func(text string) map[string]any {
	return func(text string) map[string]any {
		m := map[string]any{}
		if err := unmarshal([]byte(text), &m); err != nil {
			m["Error"] = err.Error()
		}
		return m
	}
}

func listFrom(unmarshal func([]byte, any) error) func(text string) []any {
	return func(text string) []any {
		list := []any{}
		if err := unmarshal([]byte(text), &list); err != nil {
			return []any{err.Error()}
		}
		return list
	}
}
