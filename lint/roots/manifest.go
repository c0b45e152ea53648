package roots

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/source"
)

// mentions reports, without parsing a text, whether it may declare an object of interest.
func (f *finder) mentions(text []byte) bool {
	has := func(mark string) bool { return bytes.Contains(text, []byte(mark)) }
	return has("kustomize.toolkit.fluxcd.io/") || has("helm.toolkit.fluxcd.io/") || has("source.toolkit.fluxcd.io/") ||
		has("argoproj.io/") && has("Application") || !f.opts.OnlyRenderable && (has("schedlint.dev/") || mentionsNode(text))
}

// mentionsNode reports whether a text may contain an object of kind Node.
func mentionsNode(text []byte) bool {
	for {
		before, after, found := bytes.Cut(text, []byte("Node"))
		if !found {
			return false
		}
		before, colon := bytes.CutSuffix(bytes.TrimRight(before, " \t\"'"), []byte(":"))
		if colon && bytes.HasSuffix(bytes.TrimRight(before, " \t\"'"), []byte("kind")) && (len(after) == 0 || after[0]|0x20 < 'a' || after[0]|0x20 > 'z') {
			return true
		}
		text = after
	}
}

// manifest examines an input and records what it declares. Kustomizations are handled elsewhere,
// except for files that only have their name.
func (f *finder) manifest(in source.Input) {
	base, dir := path.Base(in.Name), path.Dir(in.Name)
	if source.IsKustomizationFile(base) || base == chartName {
		f.testData(in.Name)
	}
	if in.Problem == "" && isYAML(base) {
		f.yaml[dir] = append(f.yaml[dir], in.Name)
	}
	switch {
	case in.Problem != "":
		f.unread(in.Name, "%s", in.Problem)
		return
	case source.IsKustomizationFile(base):
		if n := f.kustomizationFile(in.Name); n != nil && n.foreign {
			f.objects(n.file, n.file.Roots())
		}
		return
	case base == chartName:
		f.chartFile(in.Name)
		return
	}
	file := f.read(in.Name)
	if file == nil {
		return
	}
	if bytes.Contains(file.Text, []byte("ConfigMap")) || bytes.Contains(file.Text, []byte("Secret")) {
		f.found.Settings = append(f.found.Settings, file.Name)
	}
	if bytes.Contains(file.Text, []byte("apiVersion")) {
		f.testData(in.Name)
	}
	if f.mentions(file.Text) && f.mayParse(file) {
		f.objects(file, file.Roots())
	}
}

// objects records the objects in the documents of a file.
func (f *finder) objects(file *source.File, docs []*source.Node) {
	for _, root := range docs {
		for _, o := range file.ObjectsOf(root) {
			if kind, ok := pointers.KindOf(o.Group(), o.Kind); ok {
				f.found.Pointers = append(f.found.Pointers, Pointer{string(kind), o.Name, o.File.Name, max(o.NameSpan().Line, 1), o})
			}
			if o.Group() == "source.toolkit.fluxcd.io" {
				f.found.Repositories = append(f.found.Repositories, o)
			}
			if n := len(f.found.Topologies); f.opts.Declares != nil && f.opts.Declares(o) && (n == 0 || f.found.Topologies[n-1] != o.File.Name) {
				f.found.Topologies = append(f.found.Topologies, o.File.Name)
			}
		}
	}
}

// chartName is the file that makes a directory a chart.
const chartName = "Chart.yaml"

// chartFile reads the description of a chart.
func (f *finder) chartFile(name string) {
	file := f.read(name)
	if file == nil || !f.mayParse(file) {
		return
	}
	docs := file.Roots()
	if len(docs) != 1 || docs[0].Get("name").Text() == "" || !docs[0].Get("kind").IsNull() {
		return
	}
	dir := path.Dir(name)
	f.charts[dir] = true
	for _, d := range docs[0].Get("dependencies").Items() {
		if at, local := strings.CutPrefix(d.Get("repository").Text(), "file://"); local && path.Join(dir, at) != dir {
			f.depended[path.Join(dir, at)] = true
		}
	}
	f.found.Charts = append(f.found.Charts, Chart{Dir: dir, Name: docs[0].Get("name").Text(), Library: docs[0].Get("type").Text() == "library"})
}

// testNames holds names of directories with input and output of tests.
var testNames = map[string]bool{
	"testdata": true, "test-data": true, "test_data": true, "fixtures": true, "test-fixtures": true, "__fixtures__": true,
	"golden": true, "goldens": true, "__snapshots__": true,
}

// testData records the outermost test data directory that contains a file.
func (f *finder) testData(name string) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		if dir := name[:i]; testNames[path.Base(dir)] {
			if !slices.Contains(f.found.TestData, dir) {
				f.found.TestData = append(f.found.TestData, dir)
			}
			return
		}
	}
}

// isTemplate reports whether a file is a template of a chart that was found. Such a file declares
// nothing by itself.
func (f *finder) isTemplate(name string) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if path.Base(at) == "templates" && f.charts[path.Dir(at)] {
			return true
		}
	}
	return false
}
