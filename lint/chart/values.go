package chart

import (
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/lint/limits"
)

// userValues are the values of files and arguments, merged as Helm merges them.
func (l *loader) userValues() (map[string]any, error) {
	all, err := l.merge(l.in.Values[min(l.in.Defaults, len(l.in.Values)):])
	if err != nil {
		return nil, err
	}
	return all, l.set(all)
}

// merge are the values of files.
func (l *loader) merge(files []Values) (map[string]any, error) {
	all := map[string]any{}
	for _, f := range files {
		if len(f.Data) > limits.ValuesFile {
			return nil, limitAt(f.Name, "the values file has %d bytes; values files are limited to %d", len(f.Data), limits.ValuesFile)
		}
		one := map[string]any{}
		if err := yaml.Unmarshal(f.Data, &one); err != nil {
			return nil, &Problem{File: f.Name, Line: lineOfError(err), Detail: fmt.Sprintf("the values cannot be read: %v", err)}
		}
		all = merged(all, one)
	}
	return all, nil
}

// set applies --set and --set-string.
func (l *loader) set(all map[string]any) error {
	for i, s := range l.in.Set {
		if err := strvals.ParseInto(s, all); err != nil {
			return &Problem{File: setName, Line: i + 1, Detail: fmt.Sprintf("%q cannot be read: %v", cut(s), err)}
		}
	}
	for i, s := range l.in.SetString {
		if err := strvals.ParseIntoString(s, all); err != nil {
			return &Problem{File: setStringName, Line: i + 1, Detail: fmt.Sprintf("%q cannot be read: %v", cut(s), err)}
		}
	}
	return nil
}

const (
	setName       = "--set"
	setStringName = "--set-string"
)

// merged is a with the values of b over it; tables are merged, anything else is replaced.
func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for key, value := range b {
		if table, ok := value.(map[string]any); ok {
			if under, ok := out[key].(map[string]any); ok {
				out[key] = merged(under, table)
				continue
			}
		}
		out[key] = value
	}
	return out
}

// lineOfError is the line that an error of the YAML parser names, or 1.
func lineOfError(err error) int {
	_, after, ok := strings.Cut(err.Error(), "line ")
	if !ok {
		return 1
	}
	line := 1
	if n, _ := fmt.Sscanf(after, "%d", &line); n == 0 {
		return 1
	}
	return line
}
