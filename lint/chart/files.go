package chart

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/gobwas/glob"
	helm "helm.sh/helm/v3/pkg/chart"
)

// files is what templates see as .Files: the files of a chart that are neither templates
// nor read by Helm itself. It is a map because templates range over it. What its methods
// cost is counted where they are called (see methodCost).
type files map[string][]byte

func newFiles(from []*helm.File, absent []string) any {
	all := files{}
	for _, f := range from {
		all[f.Name] = f.Data
	}
	if len(absent) > 0 {
		return &partialFiles{all, absent}
	}
	return all
}

// partialFiles lacks some files that Helm would read (Input.Absent).
// Templates see no map, so nothing goes through all of them, and methods refuse what may be
// about one that is absent.
type partialFiles struct {
	of     files
	absent []string
}

// String is there for messages, which would show all files.
func (*partialFiles) String() string { return "the files of a chart, of which some are not read" }

// need refuses a name that means an absent file, or one in an absent directory. The same
// file has another name in each chart that it is in.
func (f *partialFiles) need(name string) files {
	if _, there := f.of[name]; !there {
		f.refuse(func(absent string) bool { return name == absent || strings.HasPrefix(name, absent+"/") })
	}
	return f.of
}

// needAll refuses a pattern that an absent file may match.
func (f *partialFiles) needAll(pattern string) files {
	if at := strings.IndexAny(pattern, `*?[{\`); at >= 0 {
		pattern = pattern[:at]
	}
	f.refuse(func(absent string) bool {
		return strings.HasPrefix(absent, pattern) || strings.HasPrefix(pattern, absent+"/")
	})
	return f.of
}

func (f *partialFiles) refuse(means func(absent string) bool) {
	for _, absent := range f.absent {
		for rest, more := absent, true; more; _, rest, more = strings.Cut(rest, "/") {
			if means(rest) {
				panic(limit(fmt.Sprintf("a template may read %.200q, a link out of the repository, which is not followed", absent)))
			}
		}
	}
}

// GetBytes is a file; empty if there is none.
func (f files) GetBytes(name string) []byte {
	if data, ok := f[name]; ok {
		return data
	}
	return []byte{}
}

// Get is the text of a file. Files never change, so it shares the bytes.
func (f files) Get(name string) string {
	data := f[name]
	return unsafe.String(unsafe.SliceData(data), len(data))
}

// Glob are the files that a pattern matches; all of them if it is not a pattern.
func (f files) Glob(pattern string) files {
	g, err := glob.Compile(pattern, '/')
	if err != nil {
		g, _ = glob.Compile("**")
	}
	found := files{}
	for name, data := range f {
		if g.Match(name) {
			found[name] = data
		}
	}
	return found
}

// AsConfig is the data of a ConfigMap.
func (f files) AsConfig() string { return f.encoded(func(data []byte) string { return string(data) }) }

// AsSecrets is the data of a Secret.
func (f files) AsSecrets() string { return f.encoded(base64.StdEncoding.EncodeToString) }

// encoded is the data of a ConfigMap or a Secret. Of files with one base name the last by name
// wins; with Helm it is any.
func (f files) encoded(encode func([]byte) string) string {
	if f == nil {
		return ""
	}
	data := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		data[path.Base(name)] = encode(f[name])
	}
	return toYAML(data)
}

// Lines are the lines of a file.
func (f files) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(f.Get(name), "\n"), "\n")
}

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
