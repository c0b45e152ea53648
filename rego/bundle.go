package rego

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// BundleFile is a file of an OPA bundle.
type BundleFile struct {
	Name string
	Text []byte
}

// Bundle returns the files of an OPA bundle, sorted by name: custom rules, the rules of packs, and
// the libraries that they import. opa eval --bundle runs them on the output of the facts command.
// Rules that do not load are an error.
func Bundle(o Options) ([]BundleFile, error) {
	e, err := Load(o)
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(map[string]any{"roots": []string{""}, "rego_version": 1})
	if err != nil {
		return nil, err
	}
	files := []BundleFile{{".manifest", append(manifest, '\n')}}
	for _, m := range e.modules {
		name := strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(m.file)), "/")
		files = append(files, BundleFile{path.Join("own", name), []byte(m.text)})
	}
	for _, r := range e.rules {
		if r.pack != "" && !r.own && slices.Contains(o.Packs, r.pack) {
			files = append(files, BundleFile{r.file, []byte(r.text)})
		}
	}
	libraries, err := libraryFiles()
	for _, f := range libraries {
		files = append(files, BundleFile{path.Join("schedlint", f.name), []byte(f.text)})
	}
	slices.SortFunc(files, func(a, b BundleFile) int { return strings.Compare(a.Name, b.Name) })
	return files, err
}
