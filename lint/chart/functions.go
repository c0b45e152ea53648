package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	texttemplate "text/template"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/semver/v3"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/chart/template"
	"github.com/schedlint/schedlint/lint/lazy"
)

// functions returns the functions of Helm except include and tpl, without a budget. Those that need
// no engine behave as in Helm, except that keys and values are sorted, and except the functions in
// constants.go.
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
			text, _ := json.Marshal(v) // nil on failure
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
		"typeIs":        func(want string, v any) bool { return typeOf(v) == want },
		"typeIsLike":    func(want string, v any) bool { return typeOf(v) == want || typeOf(v) == "*"+want },
		"keys":          sortedKeys,
		"values":        sortedValues,
		"print":         fmt.Sprint,
		"printf":        printf,
		"println":       fmt.Sprintln,
		"html":          texttemplate.HTMLEscaper,
		"js":            texttemplate.JSEscaper,
		"urlquery":      texttemplate.URLQueryEscaper,
	})
	return all
}

// failure is the message of a template that stops the rendering.
type failure string

func (f failure) Error() string { return string(f) }

func required(why string, value any) (any, error) {
	if value == nil || value == "" {
		return value, failure(why)
	}
	return value, nil
}

// address matches a verb that prints a memory address.
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

// tableFrom and listFrom return functions that report errors as part of their results.
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

// methods returns everything that templates can call on Helm's objects and on the results of
// functions. Each function takes the receiver first. Error and String need no entry.
func (e *engine) methods() template.Methods {
	whole := func(f files, _ string) files { return f }
	all := map[reflect.Type]map[string]any{
		reflect.TypeFor[files]():         fileMethods(e, whole, whole),
		reflect.TypeFor[*partialFiles](): fileMethods(e, (*partialFiles).need, (*partialFiles).needAll),
		reflect.TypeFor[chartutil.Values](): {
			"AsMap":     chartutil.Values.AsMap,
			"Table":     chartutil.Values.Table,
			"PathValue": chartutil.Values.PathValue,
			"YAML": func(v chartutil.Values) string {
				e.budget.marshalled(reflect.ValueOf(v))
				return toYAML(v) + "\n"
			},
		},
		reflect.TypeFor[*chartutil.KubeVersion](): {"GitVersion": func(v *chartutil.KubeVersion) string { return v.Version }},
		reflect.TypeFor[chartutil.VersionSet]():   {"Has": chartutil.VersionSet.Has},
		reflect.TypeFor[time.Time](): {
			"Add": time.Time.Add, "AddDate": time.Time.AddDate, "Sub": time.Time.Sub,
			"After": time.Time.After, "Before": time.Time.Before, "Equal": time.Time.Equal, "Compare": time.Time.Compare, "IsZero": time.Time.IsZero, "IsDST": time.Time.IsDST,
			"Year": time.Time.Year, "Month": time.Time.Month, "Day": time.Time.Day, "YearDay": time.Time.YearDay, "Weekday": time.Time.Weekday,
			"Hour": time.Time.Hour, "Minute": time.Time.Minute, "Second": time.Time.Second, "Nanosecond": time.Time.Nanosecond,
			"Unix": time.Time.Unix, "UnixMilli": time.Time.UnixMilli, "UnixMicro": time.Time.UnixMicro, "UnixNano": time.Time.UnixNano,
			"UTC": time.Time.UTC, "Local": time.Time.UTC, "Location": time.Time.Location, // every zone is UTC: see constants
			"Round": time.Time.Round, "Truncate": time.Time.Truncate, "Format": time.Time.Format, "GoString": time.Time.GoString,
		},
		reflect.TypeFor[time.Duration](): {
			"Hours": time.Duration.Hours, "Minutes": time.Duration.Minutes, "Seconds": time.Duration.Seconds, "Milliseconds": time.Duration.Milliseconds,
			"Microseconds": time.Duration.Microseconds, "Nanoseconds": time.Duration.Nanoseconds,
			"Abs": time.Duration.Abs, "Round": time.Duration.Round, "Truncate": time.Duration.Truncate,
		},
		reflect.TypeFor[semver.Version](): {
			"Major": semver.Version.Major, "Minor": semver.Version.Minor, "Patch": semver.Version.Patch,
			"Prerelease": semver.Version.Prerelease, "Metadata": semver.Version.Metadata,
			"IncMajor": semver.Version.IncMajor, "IncMinor": semver.Version.IncMinor, "IncPatch": semver.Version.IncPatch,
			"SetPrerelease": semver.Version.SetPrerelease, "SetMetadata": semver.Version.SetMetadata,
		},
		reflect.TypeFor[*semver.Version](): {
			"Original": (*semver.Version).Original, "Compare": (*semver.Version).Compare, "Equal": (*semver.Version).Equal,
			"LessThan": (*semver.Version).LessThan, "LessThanEqual": (*semver.Version).LessThanEqual,
			"GreaterThan": (*semver.Version).GreaterThan, "GreaterThanEqual": (*semver.Version).GreaterThanEqual,
		},
	}
	for _, table := range all {
		for name, f := range table {
			table[name] = e.charged(reflect.ValueOf(f))
		}
	}
	return all
}

// charged returns a method that charges for its arguments and its result.
func (e *engine) charged(f reflect.Value) any {
	run := f.Call
	if f.Type().IsVariadic() {
		run = f.CallSlice
	}
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		for _, arg := range args[1:] {
			e.budget.shallow(arg)
		}
		results := run(args)
		e.budget.shallow(results[0])
		return results
	}).Interface()
}

// fileMethods charge for what they look at: one file, or all of them. One and many give the files
// of a receiver for a name and for a pattern.
func fileMethods[T any](e *engine, one, many func(f T, name string) files) map[string]any {
	all := func(receiver T) files {
		f := many(receiver, "")
		e.budget.charge(len(f) + 1)
		for _, data := range f {
			e.budget.charge(len(data)/bytesPerStep + 1)
		}
		return f
	}
	return map[string]any{
		"Get":      func(f T, name string) string { return one(f, name).Get(name) },
		"GetBytes": func(f T, name string) []byte { return one(f, name).GetBytes(name) },
		"Lines": func(receiver T, name string) []string {
			f := one(receiver, name)
			e.budget.charge(len(f[name])/bytesPerStep + 1)
			return f.Lines(name)
		},
		"Glob": func(receiver T, pattern string) files {
			f := many(receiver, pattern)
			e.budget.charge(len(f) + len(pattern))
			return f.Glob(pattern)
		},
		"AsConfig":  func(f T) string { return all(f).AsConfig() },
		"AsSecrets": func(f T) string { return all(f).AsSecrets() },
	}
}
