package chart

import (
	"encoding/base64"
	"path"
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

func newFiles(from []*helm.File) files {
	all := files{}
	for _, f := range from {
		all[f.Name] = f.Data
	}
	return all
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

// AsConfig is the data of a ConfigMap. Of files with one base name the last by name wins;
// with Helm it is any.
func (f files) AsConfig() string {
	return f.as(func(data []byte) string { return string(data) })
}

// AsSecrets is the data of a Secret.
func (f files) AsSecrets() string {
	return f.as(base64.StdEncoding.EncodeToString)
}

func (f files) as(convert func([]byte) string) string {
	if f == nil {
		return ""
	}
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	data := map[string]string{}
	for _, name := range names {
		data[path.Base(name)] = convert(f[name])
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
