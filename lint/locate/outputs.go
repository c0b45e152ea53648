package locate

import (
	"path"
	"strings"

	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/source"
)

// OutputsOf returns a function that finds the charts of the tree that a file is output of. It
// uses the comments that Helm writes, or else the labels that most charts give their objects.
func OutputsOf(f *Files, objects []*source.Object) func(*source.File) []contexts.Output {
	charts := map[string]bool{} // names of charts among the paths or found around outputs
	for name, file := range f.ByName {
		if path.Base(name) == "Chart.yaml" {
			charts[chartName(file)] = true
		}
	}
	m, err := origin.New(origin.Options{Dir: f.Dir, Root: f.Root, Base: f.Root, Tracked: f.Reading.Tracked, Files: f.ByName})
	// known reports whether a chart is among the paths or in a usual place relative to its
	// output: a parent directory, beside it, or in charts/.
	left := maxSearches
	known := func(chart, file string) bool {
		if left--; charts[chart] || err != nil || left < 0 {
			return charts[chart]
		}
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			for _, at := range []string{dir, path.Join(dir, chart), path.Join(dir, "charts", chart)} {
				if about := m.Read(path.Join(at, "Chart.yaml")); about != nil && chartName(about) == chart {
					charts[chart] = true
					return true
				}
			}
			if dir == "." || dir == "/" {
				return false
			}
		}
	}
	labelled := labelledOutputs(objects, known)
	return func(file *source.File) (all []contexts.Output) {
		templates, last := file.Templates(), ""
		if len(templates) == 0 {
			return labelled[file.Name]
		}
		for _, t := range templates { // sorted, so the templates of a chart are adjacent
			chart, _, _ := strings.Cut(t, "/")
			if chart != last && known(chart, file.Name) {
				all = append(all, contexts.Output{Chart: chart, Name: outputName(file.Name, templates)})
			}
			last = chart
		}
		return all
	}
}

// chartLabel is the label for the name and version of a chart in the templates of helm create
// (helm: pkg/chartutil/create.go).
const chartLabel = "helm.sh/chart"

// versioned matches the value of chartLabel.
var versioned = lazy.Regexp(`^(.+)-v?[0-9]+\.[0-9]`)

// labelledOutputs returns the outputs that files without Helm's comments belong to. The files
// of one chart in a directory form one output, unless two of them declare the same object: then
// each file is an output by itself, even if the declarations are equal.
func labelledOutputs(objects []*source.Object, known func(chart, file string) bool) map[string][]contexts.Output {
	type declared struct {
		in contexts.Output // of a directory
		id diag.Object
	}
	first, single, of := map[declared]string{}, map[contexts.Output]bool{}, map[string]contexts.Output{}
	for _, o := range objects {
		chart := versioned().FindStringSubmatch(o.Root.At("metadata", "labels", chartLabel).Text())
		file := o.File.Name
		if chart == nil || !known(chart[1], file) {
			continue
		}
		d := declared{contexts.Output{Chart: chart[1], Name: path.Dir(file)}, o.ID()}
		of[file] = d.in
		if other := first[d]; other != "" && other != file {
			single[d.in] = true
		}
		first[d] = file
	}
	all := map[string][]contexts.Output{}
	for file, out := range of {
		if single[out] {
			out.Name = file
		}
		all[file] = []contexts.Output{out}
	}
	return all
}

// maxSearches limits the searches for charts around the files that name them.
const maxSearches = 10_000

// outputName identifies an output. helm template --output-dir writes one file per template, so
// files whose path ends like that of their only template form one output. Any other file is an
// output by itself.
func outputName(file string, templates []string) string {
	if len(templates) != 1 {
		return file
	}
	is, of := strings.Split(file, "/"), strings.Split(templates[0], "/")
	for len(is) > 0 && len(of) > 0 && is[len(is)-1] == of[len(of)-1] {
		is, of = is[:len(is)-1], of[:len(of)-1]
	}
	return strings.Join(is, "/")
}

// chartName returns the name of a chart according to its Chart.yaml.
func chartName(about *source.File) string {
	if roots := about.Roots(); len(roots) == 1 {
		return roots[0].Get("name").Text()
	}
	return ""
}
