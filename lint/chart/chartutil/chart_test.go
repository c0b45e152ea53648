package chartutil

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	helm "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// written is a chart in the notation of the tests.
type written struct {
	Name, Version string
	Values        map[string]any
	Dependencies  []*helm.Dependency
	Charts        []written
}

func (w written) chart() *helm.Chart {
	version := w.Version
	if version == "" {
		version = "1.0.0"
	}
	c := &helm.Chart{Metadata: &helm.Metadata{Name: w.Name, Version: version, Dependencies: w.Dependencies}, Values: w.Values}
	for _, d := range w.Charts {
		c.AddDependency(d.chart())
	}
	return c
}

func read[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// example is a chart with the user's values, the expected .Values, and the full names of the
// charts that remain.
type example struct{ chart, user, want, left string }

func (e example) hold(t *testing.T) {
	c := read[written](t, e.chart).chart()
	user := read[map[string]any](t, e.user)
	v, err := computed(c, user, freely)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read[map[string]any](t, e.want), map[string]any(v)); diff != "" {
		t.Errorf("values differ, - is wanted:\n%s", diff)
	}
	if diff := cmp.Diff(read[map[string]any](t, e.user), user); diff != "" {
		t.Errorf("the values of the user changed:\n%s", diff)
	}
	if left := names(c); e.left != "" && e.left != left {
		t.Errorf("%s are left, want %s", left, e.left)
	}
}

func names(c *helm.Chart) string {
	all := c.ChartFullPath()
	for _, d := range c.Dependencies() {
		all += " " + names(d)
	}
	return all
}

func computed(c *helm.Chart, user map[string]any, charge func(int)) (Values, error) {
	if err := ProcessDependencies(c, user, charge); err != nil {
		return nil, err
	}
	return Coalesce(c, user, charge)
}

func freely(int) {}

// TestCosts checks that charts with unlimited cost are refused, and that the nesting of values is
// limited.
func TestCosts(t *testing.T) {
	const most = 1_000_000
	for name, c := range map[string]struct {
		chart *helm.Chart
		want  error
	}{
		"aliases of aliases":  {manyAliases(12), errCharged},
		"an import of itself": {read[written](t, importsItself).chart(), ErrDepth},
		"a long path": {read[written](t, `{name: s, charts: [{name: a, values: {x: {}}}],
			dependencies: [{name: a, version: "*", repository: "", import-values: [{child: x, parent: `+dots(MaxDepth+10)+`}]}]}`).chart(), ErrDepth},
		"deep values": {&helm.Chart{Metadata: &helm.Metadata{Name: "s"}, Values: at(dots(MaxDepth+10), map[string]any{})}, ErrDepth},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := bounded(c.chart, most); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// importsItself is a chart that imports one of its tables into x.p of its dependency, and then
// imports x, which contains the same p.
const importsItself = `
name: s
charts:
- {name: a, values: {x: {p: {q: {r: 1}}}}}
dependencies:
- {name: a, version: "*", repository: "", import-values: [{child: x.p.q, parent: p}, {child: x, parent: .}]}`

func dots(n int) string {
	path := make([]byte, 0, 2*n)
	for range n {
		path = append(path, "a."...)
	}
	return string(path) + "a"
}

// manyAliases returns a chart with ten aliases of a chart with ten aliases, and so on, depth
// levels deep.
func manyAliases(depth int) *helm.Chart {
	c := &helm.Chart{Metadata: &helm.Metadata{Name: "leaf", Version: "1.0.0"}}
	for range depth {
		above := &helm.Chart{Metadata: &helm.Metadata{Name: "c", Version: "1.0.0"}}
		for range 10 {
			above.Metadata.Dependencies = append(above.Metadata.Dependencies, &helm.Dependency{Name: c.Name(), Version: "*"})
		}
		above.AddDependency(c)
		c = above
	}
	return c
}

var errCharged = errors.New("too many steps")

func bounded(c *helm.Chart, most int) (v Values, err error) {
	defer func() {
		if r := recover(); r == errCharged {
			err = errCharged
		} else if r != nil {
			panic(r)
		}
	}()
	return computed(c, nil, func(steps int) {
		if most -= steps; most < 0 {
			panic(errCharged)
		}
	})
}
