package chart

import (
	"fmt"
	"path"
	"slices"
	"strings"

	helm "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// File is a file of a chart: a name from the chart's directory with forward slashes, and
// its bytes.
type File struct {
	Name string
	Data []byte
}

// Values is a values file: the name under which people know it, and its text.
type Values struct {
	Name string
	Data []byte
}

// Input is a chart and everything that a release of it is made of.
type Input struct {
	// Files are those of the chart's directory, before .helmignore is applied. Archives
	// in charts/ are as they are.
	Files []File
	// Values are the files of -f in their order; later ones win.
	Values []Values
	// Set and SetString are the arguments of --set and --set-string.
	Set, SetString []string
	// Name is that of the release; "" is the name of the chart.
	Name string
	// Namespace is that of the release; "" is "default".
	Namespace string
	// KubeVersion is the version of Kubernetes; "" is DefaultKubeVersion.
	KubeVersion string
	// APIVersions are added to those that Helm knows.
	APIVersions []string
}

// DefaultKubeVersion is what Helm 3.21.4 takes if no version is given.
const DefaultKubeVersion = "v1.36.0"

// Result is what the templates of a chart printed.
type Result struct {
	// Manifests are the templates that are not partials, sorted by name. Those that
	// print nothing and NOTES.txt are among them.
	Manifests []Manifest
	// CRDs are the files of crds/ directories, in Helm's order.
	CRDs []File
	// Steps are what rendering took.
	Steps int
}

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
func Render(in Input) (*Result, error) { return render(in, maxSteps) }

func render(in Input, steps int) (res *Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = nil, crashed(r)
		}
	}()
	l := &loader{in: in, names: map[*byte]string{}, budget: budget{steps, steps}}
	c, err := l.load()
	if err != nil {
		return nil, l.problem(err)
	}
	r, err := l.release(c)
	if err != nil {
		return nil, l.problem(err)
	}
	e := newEngine(l, c, r)
	if err := e.parse(); err != nil {
		return nil, l.problem(err)
	}
	manifests, err := e.execute()
	if err != nil {
		return nil, l.problem(err)
	}
	return &Result{Manifests: manifests, CRDs: l.crds(c), Steps: l.budget.most - l.budget.steps}, nil
}

// crashed is the problem of a panic that a library left.
func crashed(r any) *Problem {
	if over, ok := r.(limit); ok {
		return limitAt(chartFile, "%s", string(over))
	}
	return &Problem{File: "Chart.yaml", Line: 1, Detail: fmt.Sprintf("rendering panics: %.200v", r)}
}

// crds are the files of crds/, those of a chart before those of its dependencies.
func (l *loader) crds(c *helm.Chart) []File {
	var all []File
	for _, crd := range c.CRDObjects() {
		all = append(all, File{Name: l.nameOf(crd.File.Data, crd.Filename), Data: crd.File.Data})
	}
	return all
}

// release is what a chart is rendered with.
type release struct {
	top chartutil.Values
}

// release checks what Helm checks before it renders, and computes the values.
func (l *loader) release(c *helm.Chart) (*release, error) {
	caps, err := l.capabilities()
	if err != nil {
		return nil, err
	}
	name := l.in.Name
	if name == "" {
		name = c.Name()
	}
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return nil, l.at(chartFile, "name", "release name %q: %v", name, err)
	}
	user, err := l.userValues()
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, user); err != nil {
		return nil, l.at(chartFile, "dependencies", "%v", err)
	}
	namespace := l.in.Namespace
	if namespace == "" {
		namespace = "default"
	}
	options := chartutil.ReleaseOptions{Name: name, Namespace: namespace, Revision: 1, IsInstall: true}
	top, err := chartutil.ToRenderValuesWithSchemaValidation(c, user, options, caps, true)
	if err != nil {
		return nil, l.at(valuesFile, "", "%v", err)
	}
	values, err := top.Table("Values")
	if err != nil {
		return nil, l.at(valuesFile, "", "%v", err)
	}
	if err := l.validate(c, values); err != nil {
		return nil, err
	}
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return nil, l.at(chartFile, "kubeVersion", "the chart requires Kubernetes %s, but the version is %s", want, caps.KubeVersion.String())
	}
	return &release{top: top}, nil
}

// capabilities are Helm's, with the version that is asked for.
func (l *loader) capabilities() (*chartutil.Capabilities, error) {
	caps := chartutil.DefaultCapabilities.Copy()
	version := l.in.KubeVersion
	if version == "" {
		version = DefaultKubeVersion
	}
	kube, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		return nil, l.at(chartFile, "", "Kubernetes version %q: %v", version, err)
	}
	caps.KubeVersion = *kube
	caps.HelmVersion.Version = "v3.21.4"
	caps.APIVersions = append(slices.Clip(caps.APIVersions), l.in.APIVersions...)
	return caps, nil
}

// isPartial is whether a template is only there for others to include.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }
