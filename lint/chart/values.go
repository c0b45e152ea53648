package chart

import (
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/limits"
)

// merge returns the merged values of files.
func (l *loader) merge(files []File) (map[string]any, error) {
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

const (
	setName       = "--set"
	setStringName = "--set-string"
)

// merged returns a with the values of b over it. Tables are merged; other values are replaced.
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

// lineOfError returns the line in an error of the YAML parser, or 1.
func lineOfError(err error) int {
	line := 1
	if _, after, ok := strings.Cut(err.Error(), "line "); ok {
		_, _ = fmt.Sscanf(after, "%d", &line) // it stays 1 if there is no number
	}
	return line
}

// CheckSet returns an error for an invalid argument of --set or, if text is set, of --set-string.
// It does not depend on the values.
func CheckSet(argument string, text bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%.200v", r)
		}
	}()
	if text {
		return strvals.ParseIntoString(argument, map[string]any{})
	}
	return strvals.ParseInto(argument, map[string]any{})
}

// CheckKubeVersion returns an error for an invalid version of Kubernetes.
func CheckKubeVersion(version string) error {
	_, err := chartutil.NewCapabilities(version, nil)
	return err
}
