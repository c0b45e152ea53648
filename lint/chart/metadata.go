package chart

import (
	"fmt"
	"reflect"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
)

// Metadata is what templates see as .Chart.Metadata: that of Helm, in its order. Helm has
// pointers in two of its lists, and prints their addresses where a template prints such a
// list: those are no two times the same, so the lists here hold what the pointers lead to.
type Metadata struct {
	Name         string            `json:"name,omitempty"`
	Home         string            `json:"home,omitempty"`
	Sources      []string          `json:"sources,omitempty"`
	Version      string            `json:"version,omitempty"`
	Description  string            `json:"description,omitempty"`
	Keywords     []string          `json:"keywords,omitempty"`
	Maintainers  []helm.Maintainer `json:"maintainers,omitempty"`
	Icon         string            `json:"icon,omitempty"`
	APIVersion   string            `json:"apiVersion,omitempty"`
	Condition    string            `json:"condition,omitempty"`
	Tags         string            `json:"tags,omitempty"`
	AppVersion   string            `json:"appVersion,omitempty"`
	Deprecated   bool              `json:"deprecated,omitempty"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	KubeVersion  string            `json:"kubeVersion,omitempty"`
	Dependencies []helm.Dependency `json:"dependencies,omitempty"`
	Type         string            `json:"type,omitempty"`
}

// metadata is what templates see as .Chart. It has no name, as in Helm.
type metadata = struct {
	Metadata
	IsRoot bool
}

func metadataOf(c *helm.Chart) metadata {
	m := metadata{IsRoot: c.IsRoot()}
	from, to := reflect.ValueOf(c.Metadata).Elem(), reflect.ValueOf(&m.Metadata).Elem()
	for i := range to.NumField() {
		if f := from.FieldByName(to.Type().Field(i).Name); f.Type() == to.Field(i).Type() {
			to.Field(i).Set(f)
		}
	}
	m.Maintainers, m.Dependencies = pointees(c.Metadata.Maintainers), pointees(c.Metadata.Dependencies)
	return m
}

// pointees are what pointers lead to; Helm refuses lists with nil in them.
func pointees[T any](list []*T) (all []T) {
	for _, p := range list {
		if p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// typeOf is the type of a value as Helm prints it: some are ours in its place.
func typeOf(v any) string {
	switch v.(type) {
	case files:
		return "engine.files"
	case helm.Maintainer, helm.Dependency:
		return "*" + fmt.Sprintf("%T", v)
	case []helm.Maintainer, []helm.Dependency:
		return strings.Replace(fmt.Sprintf("%T", v), "[]", "[]*", 1)
	}
	return fmt.Sprintf("%T", v)
}

func typeIs(want string, v any) bool { return typeOf(v) == want }

func typeIsLike(want string, v any) bool { return typeOf(v) == want || typeOf(v) == "*"+want }
