package chartutil

import "testing"

func TestValues(t *testing.T) {
	for name, e := range map[string]example{
		"the user wins": {
			chart: `{name: s, values: {a: 1, b: 1, t: {x: 1, k: 1}, l: [1, 2]}}`,
			user:  `{b: 2, t: {k: 2}, l: [3]}`,
			want:  `{a: 1, b: 2, t: {x: 1, k: 2}, l: [3]}`,
		},
		"a null deletes": {
			chart: `{name: s, values: {a: 1, t: {x: 1, k: {z: 1}}}}`,
			user:  `{a: null, t: {x: null, k: {z: null}}}`,
			want:  `{t: {k: {}}}`,
		},
		"a null over nothing stays": {
			chart: `{name: s, values: {t: {}}}`,
			user:  `{a: null, t: {x: null}}`,
			want:  `{a: null, t: {x: null}}`,
		},
		"a null over a null goes at the top and stays below": {
			chart: `{name: s, values: {a: null, t: {x: null}}}`,
			user:  `{a: null, t: {x: null}}`,
			want:  `{t: {x: null}}`,
		},
		"a null of the chart stays": {
			chart: `{name: s, values: {a: null, t: {x: null}}}`,
			user:  `{t: {k: 1}}`,
			want:  `{a: null, t: {x: null, k: 1}}`,
		},
		"a null in a list is an item": {
			chart: `{name: s, values: {l: [1]}}`, user: `{l: [null]}`, want: `{l: [null]}`,
		},
		"what is no table replaces one": {
			chart: `{name: s, values: {a: {x: 1}, t: {b: {x: 1}}}}`,
			user:  `{a: 1, t: {b: 1}}`,
			want:  `{a: 1, t: {b: 1}}`,
		},
		"a table replaces what is none": {
			chart: `{name: s, values: {a: 1, b: null, t: {c: 1}}}`,
			user:  `{a: {x: 1}, b: {x: 1}, t: {c: {x: 1}}}`,
			want:  `{a: {x: 1}, b: {x: 1}, t: {c: {x: 1}}}`,
		},
		"no values at all": {chart: `{name: s}`, user: `null`, want: `{}`},
	} {
		t.Run(name, e.hold)
	}
}

func TestValuesOfDependencies(t *testing.T) {
	for name, e := range map[string]example{
		"the chart wins over its dependency, the user over both": {
			chart: `{name: s, values: {d: {a: 2, b: 2}}, charts: [{name: d, values: {a: 1, b: 1, c: 1}}]}`,
			user:  `{d: {a: 3}}`,
			want:  `{d: {a: 3, b: 2, c: 1, global: {}}}`,
		},
		"and so on further down": {
			chart: `{name: s, values: {d: {e: {a: 3}}}, charts: [{name: d, values: {e: {a: 2, b: 2}}, charts: [{name: e, values: {a: 1, b: 1, c: 1}}]}]}`,
			user:  `{d: {e: {c: 4}}}`,
			want:  `{d: {global: {}, e: {a: 3, b: 2, c: 4, global: {}}}}`,
		},
		"nulls of chart and user delete what the dependency sets": {
			chart: `{name: s, values: {d: {a: null, t: {x: null}}}, charts: [{name: d, values: {a: 1, b: 1, t: {x: 1, k: 1}}}]}`,
			user:  `{d: {b: null}}`,
			want:  `{d: {t: {k: 1}, global: {}}}`,
		},
		"a null of the user deletes through the values of the chart": {
			chart: `{name: s, values: {d: {a: 2}}, charts: [{name: d, values: {a: 1}}]}`,
			user:  `{d: {a: null}}`,
			want:  `{d: {global: {}}}`,
		},
		"globals go down, and those above win": {
			chart: `{name: s, values: {global: {a: 1}, d: {global: {a: 2, b: 2}}}, charts: [{name: d, values: {global: {b: 3, c: 3}}}]}`,
			user:  `{global: {u: 1}}`,
			want:  `{global: {a: 1, u: 1}, d: {global: {a: 1, b: 2, c: 3, u: 1}}}`,
		},
		"tables in tables of globals go up and to those that follow": {
			chart: `{name: s, values: {global: {t: {u: {a: 1}}}, d: {global: {t: {v: 1, u: {b: 1}}}}}, charts: [{name: d}, {name: e}]}`,
			want: `{global: {t: {u: {a: 1, b: 1}}}, d: {global: {t: {v: 1, u: {a: 1, b: 1}}}},
				e: {global: {t: {u: {a: 1, b: 1}}}}}`,
		},
		"a null in a global deletes further down": {
			chart: `{name: s, values: {global: {t: {x: null}}, d: {global: {t: {x: 1}}}}, charts: [{name: d, values: {global: {t: {x: 2}}}}]}`,
			want:  `{global: {t: {x: null}}, d: {global: {t: {}}}}`,
		},
		"globals that are no table stay where they are": {
			chart: `{name: s, values: {global: {a: 1}, d: {global: 1}}, charts: [{name: d}]}`,
			want:  `{global: {a: 1}, d: {global: 1}}`,
		},
		"tables and others do not replace each other in globals": {
			chart: `{name: s, values: {global: {a: 1, b: {x: 1}}, d: {global: {a: {x: 2}, b: 2}}}, charts: [{name: d}]}`,
			want:  `{global: {a: 1, b: {x: 1}}, d: {global: {a: {x: 2}, b: 2}}}`,
		},
	} {
		t.Run(name, e.hold)
	}
}

// TestShared checks which tables in the result are identical. Templates can observe that by
// changing one of them.
func TestShared(t *testing.T) {
	c := read[written](t, `{name: s, values: {global: {t: {u: {a: 1}}}}, charts: [{name: d}]}`).chart()
	v, err := Coalesce(c, nil, freely)
	if err != nil {
		t.Fatal(err)
	}
	set := func(path, key string) {
		table, err := v.Table(path)
		if err != nil {
			t.Fatal(err)
		}
		table[key] = true
	}
	set("d.global.t.u", "shared")
	set("d.global.t", "own")
	set("d.global", "own")
	want := read[map[string]any](t, `{global: {t: {u: {a: 1, shared: true}}}, d: {global: {own: true, t: {own: true, u: {a: 1, shared: true}}}}}`)
	holds(t, want, v)
	if _, err := Values(c.Values).Table("global.t.u.shared"); err == nil || len(c.Values) != 1 {
		t.Errorf("the values of the chart changed: %v", c.Values)
	}
}

func TestMismatch(t *testing.T) {
	c := read[written](t, `{name: s, values: {d: 1}, charts: [{name: d}]}`).chart()
	_, err := Coalesce(c, nil, freely)
	if want := "the values of the dependency d are not a mapping"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
