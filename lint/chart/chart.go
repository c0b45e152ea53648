package chart

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/strvals"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/limits"
)

// File is a file of a chart: its name, relative to the chart's directory and with forward slashes,
// and its bytes. A values file has the name by which the user knows it.
type File struct {
	Name string
	Data []byte
}

// Input holds a chart and everything that its release is rendered from.
type Input struct {
	// Files are the files in the chart's directory, before .helmignore is applied. Archives in
	// charts/ are not unpacked yet.
	Files []File
	// Absent lists files and directories of the chart that Helm would read but that are not
	// available, with the reason. A chart that needs one of them is refused.
	Absent []Note
	// Archive is a packed chart that replaces Files, or nil. Its name only appears in messages and
	// origins.
	Archive *File
	// Version is a constraint on the version of the chart; "" accepts any version.
	Version string
	// Values are the files of -f in order; later ones take precedence. The first Defaults of them
	// replace values.yaml.
	Values   []File
	Defaults int
	// Set and SetString are the arguments of --set and --set-string.
	Set, SetString []string
	// Name is the name of the release; "" means DefaultRelease.
	Name string
	// Namespace is the namespace of the release; "" means "default".
	Namespace string
	// KubeVersion is the version of Kubernetes; "" means DefaultKubeVersion.
	KubeVersion string
	// APIVersions are added to those that Helm knows.
	APIVersions []string
}

// DefaultKubeVersion is the version that Helm 3.21.4 assumes if none is given.
const DefaultKubeVersion = chartutil.DefaultKubeVersion

// Result holds the output of the templates of a chart.
type Result struct {
	// Manifests holds the output of all templates except partials, sorted by name. It includes
	// NOTES.txt and templates that print nothing.
	Manifests []Manifest
	// CRDs are the files in crds/ directories, in Helm's order.
	CRDs []File
	// Notes lists checks that were skipped although Helm may make them.
	Notes []Note
	// Steps is the number of steps that rendering took.
	Steps int
}

// Note says why a file of a chart is handled differently from Helm.
type Note struct{ File, Detail string }

// Manifest is the output of one template.
type Manifest struct {
	// Template is the name that Helm gives the template, such as "shop/templates/api.yaml".
	Template string
	Text     []byte
	// Lines has one origin for each line of Text. Text after the last line break is a line, unless
	// it is empty.
	Lines []Origin
}

// Origin is the place where a line of the output was written.
type Origin struct {
	// Template is the file, named relative to the chart's directory. For a file in an archive, the
	// name of the archive and a colon precede it.
	Template string
	// Line is a line of Template, counted from 1.
	Line int
	// Exact is set if that line contains the text. Otherwise it contains the action that printed
	// the line, such as a function that prints several lines.
	Exact bool
	// Values is the place where the value of the line was set. It is the zero value if that is not
	// known or if the value was computed.
	Values Place
	// Item is the place where the list item that begins on the line was set. Keys are printed
	// sorted, so the first key of the item may be another one there. It is the zero value if no
	// item with keys begins on the line or if its place is not known.
	Item Place
}

// Place is the place where a value was set.
type Place struct {
	// File is the name of a values file: one of Input.Values or a file of the chart. For values
	// without a file it is "--set" or "--set-string".
	File string
	// Line and Column are the place of the value, or of its key if the value is on a different line
	// than the one that it explains. Both count from 1; columns are in code points. They are 0 for
	// values without a file.
	Line, Column int
}

// Render renders a chart like helm template. It differs in the order of the output and in functions
// that are random or that read a clock, the environment or the network. The error is a *Problem.
func Render(in Input) (*Result, error) { return render(in, limits.ChartSteps) }

func render(in Input, steps int) (res *Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			p := &Problem{File: chartFile, Line: 1, Detail: fmt.Sprintf("rendering panics: %.200v", r)}
			if over, ok := r.(limit); ok {
				p = limitAt(chartFile, "%s", string(over))
			}
			p.Steps = steps // the remaining files are not counted
			res, err = nil, p
		}
	}()
	l := &loader{in: in, names: map[*byte]string{}, budget: budget{limits.Counter{Most: steps}}}
	c, err := l.load()
	if err != nil {
		return nil, l.problem(err)
	}
	top, err := l.release(c)
	if err != nil {
		return nil, l.problem(err)
	}
	e := newEngine(l, c, top)
	if err := e.parse(); err != nil {
		return nil, l.problem(err)
	}
	manifests, err := e.execute()
	if err != nil {
		return nil, l.problem(err)
	}
	var crds []File // of a chart before those of its dependencies
	for _, crd := range c.CRDObjects() {
		crds = append(crds, File{Name: l.nameOf(crd.File.Data, crd.Filename), Data: crd.File.Data})
	}
	return &Result{Manifests: manifests, CRDs: crds, Notes: l.notes, Steps: l.budget.Spent}, nil
}

// DefaultRelease is the default name of a release, as in helm template (helm:
// cmd/helm/template.go). The name of the chart as default would hide faults: the templates of helm
// create omit the name of the release from names and labels if it contains that of the chart.
const DefaultRelease = "release-name"

// release makes the checks that Helm makes before it renders, and computes the values.
func (l *loader) release(c *helm.Chart) (chartutil.Values, error) {
	caps, err := chartutil.NewCapabilities(l.in.KubeVersion, l.in.APIVersions)
	if err != nil {
		return nil, l.at(chartFile, "", "Kubernetes version %q: %v", l.in.KubeVersion, err)
	}
	name := cmp.Or(l.in.Name, DefaultRelease)
	if !chartutil.IsReleaseName(name) {
		return nil, l.at(chartFile, "name", "release name %q: expected at most 53 lower case letters, digits, dashes and dots", name)
	}
	values, err := l.values(c)
	if err != nil {
		return nil, err
	}
	if err := l.validate(c, values); err != nil {
		return nil, err
	}
	version := caps.KubeVersion.Version
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatible(want, version) {
		return nil, l.at(chartFile, "kubeVersion", "the chart requires Kubernetes %s, but the version is %s", want, version)
	}
	of := chartutil.Release{Name: name, Namespace: cmp.Or(l.in.Namespace, "default")}
	return chartutil.Top(of, caps, values), nil
}

// values returns the values that templates see as .Values. It removes disabled dependencies from
// the chart.
func (l *loader) values(c *helm.Chart) (chartutil.Values, error) {
	user, err := l.merge(l.in.Values[min(l.in.Defaults, len(l.in.Values)):])
	if err != nil {
		return nil, err
	}
	for _, sets := range []struct {
		name  string
		args  []string
		parse func(string, map[string]any) error
	}{{setName, l.in.Set, strvals.ParseInto}, {setStringName, l.in.SetString, strvals.ParseIntoString}} {
		for i, s := range sets.args {
			if err := sets.parse(s, user); err != nil {
				return nil, &Problem{File: sets.name, Line: i + 1, Detail: fmt.Sprintf("%q cannot be read: %v", cut(s), err)}
			}
		}
	}
	if err := chartutil.ProcessDependencies(c, user, l.budget.charge); err != nil {
		return nil, l.unmerged(chartFile, "dependencies", err)
	}
	values, err := chartutil.Coalesce(c, user, l.budget.charge)
	if err != nil {
		return nil, l.unmerged(valuesFile, "", err)
	}
	return values, nil
}

// unmerged returns the error for values that could not be computed.
func (l *loader) unmerged(file, key string, err error) error {
	p := l.at(file, key, "%v", err)
	p.Refused = errors.Is(err, chartutil.ErrDepth)
	return p
}

// isPartial reports whether a template only exists for others to include.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }
