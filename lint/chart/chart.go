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

// File is a file of a chart. Its name is relative to the chart's directory and uses forward
// slashes. A values file may have any name.
type File struct {
	Name string
	Data []byte
}

// Input holds a chart and all settings of its release.
type Input struct {
	// Files lists all files in the chart's directory, including those that .helmignore excludes.
	// Archives in charts/ are not unpacked.
	Files []File
	// Absent lists the files and directories of the chart that schedlint cannot read, with the
	// reasons. Rendering fails if the chart needs one of them.
	Absent []Note
	// Archive is a packed chart to use instead of Files, or nil. Its name appears only in messages
	// and origins.
	Archive *File
	// Chart is the name that the chart must have, or "" to accept any name.
	Chart string
	// Version is a constraint on the version of the chart, or "" to accept any version.
	Version string
	// Dependency returns the archive of a dependency that is missing from charts/, or nil.
	// versions holds the version in Chart.lock, which may be empty, and the one in Chart.yaml. A nil
	// function stands for one that returns nil.
	Dependency func(repository, name string, versions ...string) (*File, error)
	// Dir is the directory of the chart in the repository, by which a chart is recognized that is a
	// dependency of itself.
	Dir string
	// Folder returns the files of a chart in another directory, and those that cannot be read, as
	// Files and Absent do. The directory is relative to that of the chart, and the names of the files
	// are relative to the directory. If it is nil, charts in other directories are not used.
	Folder func(dir string) (files []File, absent []Note, err error)
	// Values lists the files given with -f. Later entries take precedence. The first Defaults
	// entries replace the chart's values.yaml.
	Values   []File
	Defaults int
	// Set and SetString hold the arguments of --set and --set-string.
	Set, SetString []string
	// Unknown lists the paths in Values whose value is UnknownValue.
	Unknown []string
	// Name is the name of the release. Empty means DefaultRelease.
	Name string
	// Namespace is the namespace of the release. Empty means "default".
	Namespace string
	// KubeVersion is the Kubernetes version of the cluster. Empty means DefaultKubeVersion.
	KubeVersion string
	// APIVersions lists API versions that are added to Helm's default API versions.
	APIVersions []string
	// HelmVersion is the version of Helm that templates see. Empty means 3.21.4.
	HelmVersion string
}

// DefaultKubeVersion is the Kubernetes version that Helm 3.21.4 assumes by default.
const DefaultKubeVersion = chartutil.DefaultKubeVersion

// Result holds the output of a chart's templates.
type Result struct {
	// Manifests holds the output of all templates except partials, sorted by name. It includes
	// NOTES.txt and templates with empty output.
	Manifests []Manifest
	// CRDs lists the files in crds/ directories in the order in which Helm installs them.
	CRDs []File
	// Notes lists checks that schedlint skipped but Helm may perform.
	Notes []Note
	// Omitted lists the values that make templates leave out workloads.
	Omitted []Omission
	// Steps is the number of steps that rendering took.
	Steps int
}

// Omission describes an if action that leaves out a workload. Places are the positions of the scalars
// that decide it.
type Omission struct {
	Template string
	Places   []Place
}

// Note explains why schedlint does not handle a chart file as Helm would.
type Note struct{ File, Detail string }

// Manifest is the output of one template.
type Manifest struct {
	// Template is Helm's name for the template, such as shop/templates/api.yaml.
	Template string
	Text     []byte
	// Lines holds the origin of each line of Text. A last line without a line break counts unless
	// it is empty.
	Lines []Origin
}

// Origin says where a line of the output was written.
type Origin struct {
	// Template is the file name, relative to the chart's directory. The name of a file in an
	// archive begins with the name of the archive and a colon.
	Template string
	// Line is a line of Template, counted from 1.
	Line int
	// Exact is set if the template line contains the text of the output line. Otherwise an action
	// on the template line printed the output line.
	Exact bool
	// Call is the outermost action that led to the line. It is in the template that Manifest names,
	// or in Template, while Template may be the file of a library.
	Call Place
	// Condition is the innermost if action around the line that depends on values, or nil.
	Condition *Condition
	// Values is the position at which the value on the line was set. It is zero if the value was
	// computed or the position is unknown.
	Values Place
	// Item is the position of a map in a list that begins on the line. It is zero if the position
	// is unknown or no such map begins there. In the values file, the map may begin with another
	// key, because keys are printed in sorted order.
	Item Place
}

// Condition is the condition of an if action. Places are the positions of the scalars on which it
// depends. Outer is the next such action around it, or around the call that led to it.
type Condition struct {
	Outer  *Condition
	Places []Place
}

// Place is the position at which a value was set.
type Place struct {
	// File is the name of a values file, either one of Input.Values or a file of the chart. For a
	// value from the command line it is "--set" or "--set-string".
	File string
	// Line and Column are the position of the value. For a map or list that begins on another line
	// than its key, they are the position of the key. Both count from 1, and columns count code
	// points. They are 0 for values from the command line.
	Line, Column int
}

// Render renders a chart as helm template does, with two exceptions. The order of the output
// differs. Functions that are random or read the clock, the environment or the network return
// constants or nothing. The error is a *Problem.
func Render(in Input) (*Result, error) { return render(in, limits.ChartSteps) }

func render(in Input, steps int) (res *Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			p := &Problem{File: chartFile, Line: 1, Detail: fmt.Sprintf("rendering panics: %.200v", r)}
			if over, ok := r.(limit); ok {
				p = limitAt(chartFile, "%s", string(over))
			}
			p.Steps = steps // the remaining files cost nothing
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
	var crds []File // a chart's CRDs come before the CRDs of its dependencies
	for _, crd := range c.CRDObjects() {
		crds = append(crds, File{Name: l.nameOf(crd.File.Data, crd.Filename), Data: crd.File.Data})
	}
	return &Result{Manifests: manifests, CRDs: crds, Notes: l.notes, Omitted: e.trace.omissions(), Steps: l.budget.Spent}, nil
}

// DefaultRelease is the default name of a release, as in helm template (helm:
// cmd/helm/template.go). The chart name would be a bad default. If the release name contains the
// chart name, templates made by helm create use the release name alone. Mistakes in names and
// labels would then stay hidden.
const DefaultRelease = "release-name"

// release performs the checks that Helm performs before rendering, and computes the values.
func (l *loader) release(c *helm.Chart) (chartutil.Values, error) {
	caps, err := chartutil.NewCapabilities(l.in.KubeVersion, l.in.APIVersions)
	if err != nil {
		return nil, l.at(chartFile, "", "Kubernetes version %q: %v", l.in.KubeVersion, err)
	}
	if text := l.in.HelmVersion; text != "" {
		if caps.HelmVersion.Version, err = chartutil.HelmVersion(text); err != nil {
			return nil, l.at(chartFile, "", "Helm version %q: %v", text, err)
		}
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

// values returns the values that templates see as .Values. It also removes disabled dependencies.
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
	if err := l.conditional(c); err != nil {
		return nil, err
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

// unmerged returns the problem for values that cannot be merged. Values that are nested too deeply
// are refused, because Helm itself may accept them.
func (l *loader) unmerged(file, key string, err error) error {
	p := l.at(file, key, "%v", err)
	p.Refused = errors.Is(err, chartutil.ErrDepth)
	return p
}

// isPartial reports whether a template has no output of its own and serves only other templates.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }
