package chart

import (
	"encoding/base64"
	"fmt"
	"path"
	"reflect"
	"strings"
	"unsafe"

	"github.com/gobwas/glob"
	helm "helm.sh/helm/v3/pkg/chart"

	"github.com/schedlint/schedlint/lint/sorting"
)

// files is the value of .Files in templates. It holds the chart files except templates and files
// that Helm itself reads. It is a map, so that templates can range over it. The engine charges for
// calls to its methods (see fileMethods).
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

// partialFiles is the value of .Files if some files are missing (Input.Absent). Its methods reject
// any name or pattern that may refer to a missing file. It is not a map, because ranging over it
// would omit the missing files.
type partialFiles struct {
	of     files
	absent []string
}

// String returns a fixed string, because the default format would print all files into messages.
func (*partialFiles) String() string { return "the files of a chart, of which some are not read" }

// need rejects the name of a missing file or of a file in a missing directory. A file in a
// dependency has a different name in each of the charts that contain it.
func (f *partialFiles) need(name string) files {
	if _, there := f.of[name]; !there {
		f.refuse(func(absent string) bool { return name == absent || strings.HasPrefix(name, absent+"/") })
	}
	return f.of
}

// needAll rejects a pattern that may match a missing file.
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

// GetBytes returns the contents of a file, or empty bytes if there is no such file.
func (f files) GetBytes(name string) []byte {
	if data, ok := f[name]; ok {
		return data
	}
	return []byte{}
}

// Get returns the contents of a file as a string. The string shares memory with the file, which
// never changes.
func (f files) Get(name string) string {
	data := f[name]
	return unsafe.String(unsafe.SliceData(data), len(data))
}

// Glob returns the files that match a pattern, or all files if the pattern is invalid.
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

// AsConfig returns the files as YAML for the data of a ConfigMap.
func (f files) AsConfig() string { return f.encoded(func(data []byte) string { return string(data) }) }

// AsSecrets returns the files as YAML for the data of a Secret.
func (f files) AsSecrets() string { return f.encoded(base64.StdEncoding.EncodeToString) }

// encoded returns the files as YAML for the data of a ConfigMap or a Secret. If several files have
// the same base name, encoded uses the one whose full name sorts last. Helm uses a random one.
func (f files) encoded(encode func([]byte) string) string {
	data := map[string]string{}
	for _, name := range sorting.Keys(f) {
		data[path.Base(name)] = encode(f[name])
	}
	return toYAML(data)
}

// Lines returns the lines of a file.
func (f files) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(f.Get(name), "\n"), "\n")
}

// Metadata is the value of .Chart.Metadata in templates. Its fields are the same as in Helm and
// have the same order. In Helm, two of the lists contain pointers. If a template prints such a
// list, it prints addresses, which differ between runs. The lists here contain values instead.
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

// metadata is the type of .Chart in templates. It is unnamed, as in Helm.
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

// pointees returns the values that the pointers refer to. Helm has already rejected nil pointers.
func pointees[T any](list []*T) (all []T) {
	for _, p := range list {
		if p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// typeOf returns the name that Helm prints for the type of a value. Some values have different Go
// types here than in Helm.
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
