package chartutil

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// Values holds the values of a chart or of a part of it. Templates can call the methods.
type Values map[string]any

// MaxDepth limits how deep values are nested.
const MaxDepth = 10_000

// ErrDepth is returned for values that are nested more than MaxDepth deep.
var ErrDepth = errors.New("values are nested more than 10000 deep, or contain themselves")

// Table returns the mapping at a path of keys separated by dots.
func (v Values) Table(path string) (Values, error) {
	for key := range strings.SplitSeq(path, ".") {
		switch inner := v[key].(type) {
		case map[string]any:
			v = inner
		case Values:
			v = inner
		default:
			return nil, fmt.Errorf("%q is not a table", key)
		}
	}
	return v, nil
}

// PathValue returns the value at a path of keys, unless it is a mapping.
func (v Values) PathValue(path string) (any, error) {
	if path == "" {
		return nil, errors.New("the path is empty")
	}
	key := path
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		key = path[dot+1:]
		in, err := v.Table(path[:dot])
		if err != nil {
			return nil, noValue(key)
		}
		v = in
	}
	value, ok := v[key]
	if _, table := value.(map[string]any); !ok || table {
		return nil, noValue(key)
	}
	return value, nil
}

func noValue(key string) error { return fmt.Errorf("%q is not a value", key) }

// AsMap returns the map, or an empty one for nil.
func (v Values) AsMap() map[string]any {
	if len(v) == 0 {
		return map[string]any{}
	}
	return v
}

// YAML returns the values as YAML.
func (v Values) YAML() (string, error) {
	text, err := yaml.Marshal(v)
	return string(text), err
}
