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

// File is a file of a chart: a name from the chart's directory with forward slashes, and
// its bytes. The name of a values file is the one under which people know it.
type File struct {
	Name string
	Data []byte
}

// Input is a chart and everything that a release of it is made of.
type Input struct {
	// Files are those of the chart's directory, before .helmignore is applied. Archives
	// in charts/ are as they are.
	Files []File
	// Absent are files and directories of the chart that are not read though Helm would, with
	// the reason. A chart that needs one is refused.
	Absent []Note
	// Archive is a packed chart in place of Files, nil for none. Its name is only named in
	// messages and origins.
	Archive *File
	// Version is a constraint that the version of the chart has to meet; "" is any.
	Version string
	// Values are the files of -f in their order; later ones win. The first of them, as many
	// as Defaults says, stand in place of values.yaml.
	Values   []File
	Defaults int
	// Set and SetString are the arguments of --set and --set-string.
	Set, SetString []string
	// Name is that of the release; "" is DefaultRelease.
	Name string
	// Namespace is that of the release; "" is "default".
	Namespace string
	// KubeVersion is the version of Kubernetes; "" is DefaultKubeVersion.
	KubeVersion string
	// APIVersions are added to those that Helm knows.
	APIVersions []string
}

// DefaultKubeVersion is what Helm 3.21.4 takes if no version is given.
const DefaultKubeVersion = chartutil.DefaultKubeVersion

// Result is what the templates of a chart printed.
type Result struct {
	// Manifests are the templates that are not partials, sorted by name. Those that
	// print nothing and NOTES.txt are among them.
	Manifests []Manifest
	// CRDs are the files of crds/ directories, in Helm's order.
	CRDs []File
	// Notes list the checks that were skipped but that Helm may make.
	Notes []Note
	// Steps are what rendering took.
	Steps int
}

// Note says why a chart file is not handled the way Helm handles it.
type Note struct{ File, Detail string }

// Manifest is what one template printed.
type Manifest struct {
	// Template is the name that Helm gives it, such as "shop/templates/api.yaml".
	Template string
	Text     []byte
	// Lines has one origin for each line of Text; text after the last line break is a
	// line, unless it is empty.
	Lines []Origin
}

// Origin says where a line of the output was written.
type Origin struct {
	// Template is the file, as a name from the chart's directory. Files of an archive
	// follow its name and a colon.
	Template string
	// Line is a line of Template, counted from 1.
	Line int
	// Exact is whether that line holds the text. Otherwise it has the action that
	// printed the line, such as a function that makes several lines.
	Exact bool
	// Values is where the value of the line was set; the zero value if that is not
	// known, or if the value was computed.
	Values Place
	// Item is where the item of a list begins that begins on the line: keys are printed
	// sorted, so the first one of the item may be another. The zero value if no item
	// with keys begins there, or if its place is not known.
	Item Place
}

// Place is where a value was set.
type Place struct {
	// File is the name of a values file: one of Input.Values, or a file of the chart.
	// It is "--set" or "--set-string" for values without a file.
	File string
	// Line and Column are those of the value, or of its key if the value is not on the
	// line that it explains. Both count from 1, columns in code points. They are 0 for
	// values without a file.
	Line, Column int
}

// Render renders a chart as helm template does, but for the order of the output and for
// functions that are random or read a clock, the environment or the network. The error
// is a *Problem.
func Render(in Input) (*Result, error) { return render(in, limits.ChartSteps) }

func render(in Input, steps int) (res *Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			p := &Problem{File: chartFile, Line: 1, Detail: fmt.Sprintf("rendering panics: %.200v", r)}
			if over, ok := r.(limit); ok {
				p = limitAt(chartFile, "%s", string(over))
			}
			p.Steps = steps // what is left is not known
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
	var crds []File // those of a chart before those of its dependencies
	for _, crd := range c.CRDObjects() {
		crds = append(crds, File{Name: l.nameOf(crd.File.Data, crd.Filename), Data: crd.File.Data})
	}
	return &Result{Manifests: manifests, CRDs: crds, Notes: l.notes, Steps: l.budget.Spent}, nil
}

// DefaultRelease is the name of a release that is given none, as of helm template (helm:
// cmd/helm/template.go). The name of the chart would hide faults: what helm create writes
// leaves the name of the release out of names and labels if it holds that of the chart.
const DefaultRelease = "release-name"

// release checks what Helm checks before it renders, and computes the values.
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

// values are what the templates see as .Values. The dependencies that are switched off
// leave the chart.
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

// unmerged is why there are no values.
func (l *loader) unmerged(file, key string, err error) error {
	p := l.at(file, key, "%v", err)
	p.Refused = errors.Is(err, chartutil.ErrDepth)
	return p
}

// isPartial is whether a template is only there for others to include.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }
