package chartutil

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	helm "helm.sh/helm/v3/pkg/chart"
)

func TestDependencies(t *testing.T) {
	for name, e := range map[string]example{
		"a condition": {
			chart: `{name: s, values: {d: {enabled: false}}, charts: [{name: d}, {name: e}],
				dependencies: [{name: d, version: "*", condition: d.enabled}, {name: e, version: "*", condition: e.enabled}]}`,
			want: `{d: {enabled: false}, e: {global: {}}}`, left: "s s/charts/e",
		},
		"the first condition that is a truth value": {
			chart: `{name: s, values: {a: yes please, b: true, c: false}, charts: [{name: d}],
				dependencies: [{name: d, version: "*", condition: "none,a,b,c"}]}`,
			want: `{a: yes please, b: true, c: false, d: {global: {}}}`, left: "s s/charts/d",
		},
		"conditions win over tags": {
			chart: `{name: s, values: {tags: {t: false}, run: true}, charts: [{name: d}, {name: e}],
				dependencies: [{name: d, version: "*", tags: [t], condition: run}, {name: e, version: "*", tags: [t]}]}`,
			want: `{tags: {t: false}, run: true, d: {global: {}}}`, left: "s s/charts/d",
		},
		"one tag of several is enough": {
			chart: `{name: s, charts: [{name: d}], dependencies: [{name: d, version: "*", tags: [t, u, v]}]}`,
			user:  `{tags: {t: false, u: true}}`,
			want:  `{tags: {t: false, u: true}, d: {global: {}}}`, left: "s s/charts/d",
		},
		"a condition of the user, further down": {
			chart: `{name: s, charts: [{name: d, charts: [{name: e, values: {x: 1}}], dependencies: [{name: e, version: "*", condition: e.run}]}],
				dependencies: [{name: d, version: "*"}]}`,
			user: `{d: {e: {run: false}}}`,
			want: `{d: {global: {}, e: {run: false}}}`, left: "s s/charts/d",
		},
		"an alias": {
			chart: `{name: s, charts: [{name: d, values: {x: 1}}], dependencies: [{name: d, version: "*", alias: e}]}`,
			user:  `{e: {k: 1}}`,
			want:  `{e: {x: 1, k: 1, global: {}}}`, left: "s s/charts/e",
		},
		"one chart twice": {
			chart: `{name: s, charts: [{name: d, values: {x: 1}}],
				dependencies: [{name: d, version: "*"}, {name: d, version: "*", alias: e}]}`,
			user: `{e: {x: 2}}`,
			want: `{d: {x: 1, global: {}}, e: {x: 2, global: {}}}`, left: "s s/charts/d s/charts/e",
		},
		"versions choose": {
			chart: `{name: s, charts: [{name: d, version: 1.5.0, values: {x: 1}}, {name: d, version: 2.5.0, values: {x: 2}}],
				dependencies: [{name: d, version: ^2.0.0}, {name: d, version: 1.x, alias: e}]}`,
			want: `{d: {x: 2, global: {}}, e: {x: 1, global: {}}}`, left: "s s/charts/d s/charts/e",
		},
		"charts that Chart.yaml does not name come first": {
			chart: `{name: s, charts: [{name: d}, {name: e}], dependencies: [{name: d, version: "*"}]}`,
			want:  `{d: {global: {}}, e: {global: {}}}`, left: "s s/charts/e s/charts/d",
		},
		"a chart without entries keeps what is below it": {
			chart: `{name: s, values: {e: {run: false}}, charts: [{name: d, charts: [{name: e}], dependencies: [{name: e, version: "*", condition: run}]}]}`,
			user:  `{d: {run: false}}`,
			want:  `{e: {run: false}, d: {run: false, global: {}, e: {global: {}}}}`, left: "s s/charts/d s/charts/d/charts/e",
		},
	} {
		t.Run(name, e.hold)
	}
}

func TestImports(t *testing.T) {
	for name, e := range map[string]example{
		"exports": {
			chart: `{name: s, values: {b: 2}, charts: [{name: d, values: {exports: {x: {a: 1, b: 1}}}}],
				dependencies: [{name: d, version: "*", import-values: [x]}]}`,
			want: `{a: 1, b: 2, d: {exports: {x: {a: 1, b: 1}}, global: {}}}`,
		},
		"from child to parent": {
			chart: `{name: s, values: {p: {b: 2}}, charts: [{name: d, values: {x: {k: {a: 1, b: 1}}}}],
				dependencies: [{name: d, version: "*", import-values: [{child: x.k, parent: p}, {child: x, parent: q.r}]}]}`,
			want: `{p: {a: 1, b: 2}, q: {r: {k: {a: 1, b: 1}}}, d: {x: {k: {a: 1, b: 1}}, global: {}}}`,
		},
		"the user wins": {
			chart: `{name: s, charts: [{name: d, values: {x: {a: 1, b: 1}}}],
				dependencies: [{name: d, version: "*", import-values: [{child: x, parent: .}]}]}`,
			user: `{a: 3, b: null}`,
			want: `{a: 3, d: {x: {a: 1, b: 1}, global: {}}}`,
		},
		"through two charts": {
			chart: `{name: s, dependencies: [{name: d, version: "*", import-values: [x]}],
				charts: [{name: d, dependencies: [{name: e, version: "*", import-values: [{child: x, parent: exports.x}]}],
					charts: [{name: e, values: {x: {a: 1}}}]}]}`,
			want: `{a: 1, d: {exports: {x: {a: 1}}, global: {}, e: {x: {a: 1}, global: {}}}}`,
		},
		"what is not there, or no table": {
			chart: `{name: s, charts: [{name: d, values: {x: 1}}],
				dependencies: [{name: d, version: "*", import-values: [x, {child: x, parent: k}, {parent: k}, 3]}]}`,
			want: `{d: {x: 1, global: {}}}`,
		},
		"nulls of the chart stay for what comes later": {
			chart: `{name: s, values: {d: {a: null}}, charts: [{name: d, values: {a: 1}}], dependencies: [{name: d, version: "*"}]}`,
			want:  `{d: {global: {}}}`,
		},
		"a null over what is imported": {
			chart: `{name: s, values: {q: {b: null}}, charts: [{name: d, values: {x: {b: 2}}}],
				dependencies: [{name: d, version: "*", import-values: [{child: x, parent: q}]}]}`,
			want: `{q: {b: null}, d: {x: {b: 2}, global: {}}}`,
		},
		"an imported null deletes what is imported later, in the dependency as well": {
			chart: `{name: s, charts: [{name: d, values: {exports: {x: {a: null}, z: {a: 1, b: 1}}}}],
				dependencies: [{name: d, version: "*", import-values: [x, z]}]}`,
			want: `{a: null, b: 1, d: {exports: {x: {a: null}, z: {b: 1}}, global: {}}}`,
		},
		"of one chart twice only the first imports": {
			chart: `{name: s, dependencies: [{name: d, version: "*"}, {name: d, version: "*", alias: f}],
				charts: [{name: d, dependencies: [{name: e, version: "*", import-values: [x]}], charts: [{name: e, values: {exports: {x: {a: 1}}}}]}]}`,
			want: `{d: {a: 1, global: {}, e: {exports: {x: {a: 1}}, global: {}}}, f: {global: {}, e: {exports: {x: {a: 1}}, global: {}}}}`,
		},
		"not from a chart that is off": {
			chart: `{name: s, values: {run: false}, charts: [{name: d, values: {exports: {x: {a: 1}}}}],
				dependencies: [{name: d, version: "*", condition: run, import-values: [x]}]}`,
			want: `{run: false}`,
		},
	} {
		t.Run(name, e.hold)
	}
}

// TestEntries checks that templates see the final state of .Chart.Dependencies.
func TestEntries(t *testing.T) {
	c := read[written](t, `{name: s, values: {e: {run: false}}, charts: [{name: d}, {name: e}],
		dependencies: [{name: d, version: "*", alias: f, import-values: [x, {child: k, parent: z}]}, {name: e, version: "*", condition: e.run}]}`).chart()
	if _, err := computed(c, nil, freely); err != nil {
		t.Fatal(err)
	}
	want := []*helm.Dependency{{
		Name: "f", Alias: "f", Version: "*", Enabled: true,
		ImportValues: []any{map[string]string{"child": "exports.x", "parent": "."}, map[string]string{"child": "k", "parent": "z"}},
	}}
	if diff := cmp.Diff(want, c.Metadata.Dependencies); diff != "" {
		t.Error(diff)
	}
}

func TestIsCompatible(t *testing.T) {
	for _, c := range []struct {
		constraint, version string
		want                bool
	}{
		{"*", "1.0.0", true},
		{"^1.2.0", "1.3.0", true},
		{"^1.2.0", "2.0.0", false},
		{">=1.19-0", "v1.36.0", true},
		{"*", "1.0.0-rc.1", false},
		{">=1.0.0-0", "1.0.0-rc.1", true},
		{"~1.2 || 3.x", "3.1.0", true},
		{"one", "1.0.0", false},
		{"*", "one", false},
	} {
		if IsCompatible(c.constraint, c.version) != c.want {
			t.Errorf("%q allows %q: want %v", c.constraint, c.version, c.want)
		}
	}
}
