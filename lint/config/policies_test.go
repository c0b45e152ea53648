package config

import (
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestPolicyMistakes covers every possible mistake in policies, custom rules, rules and scopes,
// with its complete error.
func TestPolicyMistakes(t *testing.T) {
	const empty = "the scope selects everything; give one of " + scopeKeys
	for text, want := range map[string]string{
		"policies: [{}]":                                        "1:12: policies[0]: expected pack, a built-in pack, or dir, a folder with rules",
		"policies: [{pack: a, dir: b}]":                         "1:12: policies[0]: pack and dir are given; make them two entries",
		"policies: [{dir: a}, {dir: a}]":                        "1:28: policies[1]: a is named twice",
		"policies: [{dri: a}]":                                  "1:12: policies[0]: expected pack, a built-in pack, or dir, a folder with rules\n1:13: unknown key policies[0].dri; did you mean dir?",
		"custom: [{use: a}]":                                    "1:10: custom[0]: expected an id",
		"custom: [{id: a}]":                                     "1:10: custom[0]: expected use, the template or rule that a is made of",
		"custom: [{id: a, use: b}, {id: a, use: c}]":            "1:32: custom[1]: the id a is taken, at 1:15",
		"custom: [{id: a, use: b, levle: note}]":                "1:26: unknown key custom[0].levle; did you mean level?",
		"custom: [{id: a, use: b, level: loud}]":                "1:26: custom[0].level: expected one of error, warning, note, off",
		"custom: [{id: a, use: b, params: 1}]":                  "1:34: custom[0].params: expected a map of parameters",
		"custom: [{id: a, use: b, scope: {}}]":                  "1:33: custom[0].scope: " + empty,
		"custom: [{id: a, use: b, scope: {min-pods: 0}}]":       "1:34: custom[0].scope.min-pods: expected at least 1, found 0",
		"custom: [{id: a, use: b, scope: {min-pods: many}}]":    "1:34: custom[0].scope.min-pods: expected a whole number",
		"rules: {a: {levle: note}}":                             "1:13: unknown key rules.a.levle; did you mean level?",
		"rules: {a: {}}":                                        "1:12: rules.a: expected one of level, params, scope",
		"rules: {'[a': off}":                                    `1:9: rules.[a: "[a" is not a valid glob`,
		"rules: {a: {scope: {names: []}}}":                      "1:20: rules.a.scope: " + empty + "\n1:21: rules.a.scope.names: expected a glob; leave the key out to select all",
		"scopes: [{rules: {a: off}}]":                           "1:10: scopes[0]: " + empty,
		"scopes: [{names: [a]}]":                                "1:10: scopes[0]: expected rules with their levels",
		"scopes: [{names: [a], rules: {b: quiet}}]":             "1:31: scopes[0].rules.b: expected one of error, warning, note, off",
		"scopes: [{names: ['[a'], rules: {b: off}}]":            `1:19: scopes[0].names[0]: "[a" is not a valid glob`,
		"scopes: [{namespace: [a], rules: {b: off}}]":           "1:10: scopes[0]: " + empty + "\n1:11: unknown key scopes[0].namespace; did you mean namespaces?",
		"scopes: [{min-pods: 3, max-pods: 2, rules: {b: off}}]": "1:34: scopes[0]: min-pods is 3 and max-pods is 2, so the scope selects nothing",
	} {
		refuses(t, text, want)
	}
}

// TestScopes checks what scopes select. Each case has one finding inside the scope and one outside.
func TestScopes(t *testing.T) {
	web := diag.Object{Kind: "Deployment", Namespace: "prod-shop", Name: "web"}
	for scope, c := range map[string]struct{ in, out About }{
		"namespaces: ['prod-*', b]":         {About{Object: web}, About{Object: diag.Object{Kind: "Deployment", Namespace: "dev"}}},
		"namespaces: [default]":             {About{Object: diag.Object{Kind: "Pod", Name: "a"}}, About{Object: diag.Object{Kind: "NodePool", Name: "a"}, Global: true}},
		"namespaces: ['*']":                 {About{Object: web}, About{}},
		"kinds: ['*']":                      {About{Object: diag.Object{Kind: "NodePool"}, Global: true}, About{File: "a.yaml"}},
		"names: [web], kinds: [Deployment]": {About{Object: web}, About{Object: diag.Object{Kind: "Pod", Name: "web"}}},
		"clusters: [eu-*]":                  {About{Cluster: "eu-1"}, About{Cluster: "us-1", Object: web}},
		"paths: [apps]":                     {About{File: "apps/a.yaml"}, About{File: "base/a.yaml", Object: web}},
		"paths: [apps], names: ['*']":       {About{File: "apps/a.yaml", Object: web}, About{File: "apps/a.yaml"}},
		"labels: {a: b}":                    {About{Object: web, PodLabels: map[string]string{"a": "b"}}, About{Object: web, Labels: map[string]string{"a": "c"}}},
		"labels: {a: b, c: d}":              {About{Object: web, Labels: map[string]string{"a": "b", "c": "d"}}, About{Object: web, Labels: map[string]string{"a": "b"}, PodLabels: map[string]string{"c": "d"}}},
		"min-pods: 2":                       {About{Object: web, Workload: true, Pods: UnknownPods}, About{Object: web, Workload: true, Pods: 1}},
		"min-pods: 1":                       {About{Object: web, Workload: true, Pods: 1}, About{Object: diag.Object{Kind: "Service"}, Pods: 5}},
		"max-pods: 2":                       {About{Object: web, Workload: true, Pods: 0}, About{Object: web, Workload: true, Pods: UnknownPods}},
	} {
		conf, err := load(t, "scopes: [{"+scope+", rules: {a: note}}]")
		if err != nil {
			t.Errorf("%s: %v", scope, err)
			continue
		}
		if s := &conf.Scopes[0]; !s.Has(&c.in) || s.Has(&c.out) {
			t.Errorf("%s: selects %v: %v, selects %v: %v", scope, c.in, s.Has(&c.in), c.out, s.Has(&c.out))
		}
	}
}

// TestLevels checks the precedence of the settings.
func TestLevels(t *testing.T) {
	const custom = "custom: [{id: mine, use: x, level: note, scope: {names: [web]}}]\n"
	web := About{Object: diag.Object{Kind: "Pod", Name: "web"}}
	db := About{Object: diag.Object{Kind: "Pod", Name: "db"}}
	for _, c := range []struct {
		text, rule    string
		base, web, db diag.Level
		off           bool
	}{
		{"", "a", "warning", "warning", "warning", false},
		{"", "a", "off", "off", "off", true},
		{custom, "mine", "error", "note", "off", false},
		{custom + "rules: {'m*': warning}", "mine", "error", "warning", "off", false},
		{custom + "rules: {mine: error, 'm*': off}", "mine", "error", "error", "off", false},
		{custom + "rules: {mine: {scope: {names: [db]}}}", "mine", "error", "off", "note", false},
		{custom + "rules: {'mi*': {scope: {names: [db]}}}", "mine", "error", "off", "note", false},
		{"rules: {'a*': off, '*': note}", "ab", "error", "note", "note", false},
		{"rules: {'ha.*': off}", "ha.zone", "error", "off", "off", true},
		{"scopes: [{names: [web], rules: {a: note}}]", "a", "off", "note", "off", false},
		{"scopes: [{names: [web], rules: {a: off}}]", "a", "error", "off", "error", false},
		{"scopes: [{names: ['*'], rules: {a: note}}, {names: [db], rules: {'*': error, a: warning}}]", "a", "error", "note", "warning", false},
		{"rules: {a: off}\nscopes: [{names: [web], rules: {a: off}}]", "a", "error", "off", "off", true},
	} {
		conf, err := load(t, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		w, d, off := conf.LevelOf(c.rule, c.base, &web), conf.LevelOf(c.rule, c.base, &db), conf.Off(c.rule, c.base)
		if w != c.web || d != c.db || off != c.off {
			t.Errorf("%s: %s of web, %s of db, off: %v; want %s, %s, %v", c.text, w, d, off, c.web, c.db, c.off)
		}
	}
}

// TestParams checks values and their locations.
func TestParams(t *testing.T) {
	conf, err := load(t, "rules:\n  a:\n    params:\n      n: 3\n      list: [x, {y: 1.5}]\n      t: true\n      s: \"1\"\n      z: null\n")
	if err != nil {
		t.Fatal(err)
	}
	p := conf.Rules["a"].Params
	if p.Values["n"] != int64(3) || p.Values["t"] != true || p.Values["s"] != "1" || p.Values["z"] != nil || p.Values["list"].([]any)[1].(map[string]any)["y"] != 1.5 {
		t.Errorf("%#v", p.Values)
	}
	for _, c := range []struct {
		want string
		path []string
	}{
		{":4:7", nil}, {":4:7", []string{"n"}}, {":5:14", []string{"list", "0"}}, {":5:18", []string{"list", "1", "y"}},
		{"", []string{"list", "2"}}, {"", []string{"nothing"}}, {"", []string{"n", "deeper"}}, {"", []string{"nothing", "deeper"}},
	} {
		want := c.want
		if want != "" {
			want = Name + want
		}
		if got := p.At(c.path...); got != want {
			t.Errorf("%v is at %q, want %q", c.path, got, want)
		}
	}
}

// TestLoosenedPolicies checks which changes of a configuration may make findings disappear, and
// which may not.
func TestLoosenedPolicies(t *testing.T) {
	for _, c := range []struct{ before, now, want string }{
		{"policies: [{dir: a}]", "policies: [{dir: a}, {dir: b}]", ""},
		{"policies: [{dir: a}]", "", "rules are not read any more: a"},
		{"policies: [{pack: ha}]", "policies: []", "the pack ha is off"},
		{"custom: [{id: a, use: b}]", "", "rule a is gone"},
		{"", "custom: [{id: a, use: b}]", ""},
		{"custom: [{id: a, use: b}]", "custom: [{id: a, use: b, title: c, owner: d}]", ""},
		{"custom: [{id: a, use: b}]", "custom: [{id: a, use: c}]", "rule a has other parameters or another scope, and may find less"},
		{"custom: [{id: a, use: b, params: {c: [1]}}]", "custom: [{id: a, use: b, params: {c: [2]}}]", "rule a has other parameters or another scope, and may find less"},
		{"custom: [{id: a, use: b}]", "custom: [{id: a, use: b, scope: {names: [c]}}]", "rule a has other parameters or another scope, and may find less"},
		{"custom: [{id: a, use: b, scope: {names: [c]}}]", "custom: [{id: a, use: b}]", ""},
		{"custom: [{id: a, use: b, level: error}]", "custom: [{id: a, use: b, level: note}]", "rule a: note instead of error"},
		{"rules: {a: error}", "rules: {a: note}", "rule a: note instead of error"},
		{"rules: {a: error}", "rules: {'*': off}", "rule a: off instead of error"},
		{"rules: {a: {params: {b: 1}}}", "rules: {a: {params: {b: 1}, level: error}}", ""},
		{"rules: {a: {params: {b: 1}}}", "rules: {a: {params: {b: 2}}}", "rule a has other parameters, and may find less"},
		{"rules: {a: {params: {b: 1}}}", "", "rule a has other parameters, and may find less"},
		{"", "rules: {a: {scope: {names: [b]}}}", "rule a has another scope, and may find less"},
		{"rules: {a: {scope: {names: [b]}}}", "", ""},
		{"", "scopes: [{names: [b], max-pods: 2, rules: {a: note, 'c*': off}}]", "a scope sets levels: name b, at most 2 pods (a note, c* off)"},
		{"", "scopes: [{min-pods: 3, rules: {a: off}}]", "a scope sets levels: at least 3 pods (a off)"},
		{"", "scopes: [{names: [b], rules: {a: error}}]", ""},
		{"survive: [{keys: [zone]}]", "survive: [{keys: [zone]}]", ""},
		{"survive: [{keys: [zone], namespaces: [b]}]", "survive: [{keys: [zone], namespaces: [c]}]", "a loss need not be survived any more: zone"},
		{"survive: [{keys: [zone]}, {keys: [host]}]", "survive: [{keys: [host]}]", "a loss need not be survived any more: zone"},
		{"scopes: [{names: [b], rules: {a: note}}]", "scopes: [{names: [b], rules: {a: note}}]", ""},
		{"scopes: [{labels: {b: c}, rules: {a: error}}]", "", "a scope is gone: label b=c (a error)"},
		{"scopes: [{names: [b], rules: {a: off}}]", "", ""},
		{"scopes: [{names: [b], rules: {a: off}}, {kinds: [b], rules: {a: error}}]", "scopes: [{kinds: [b], rules: {a: error}}, {names: [b], rules: {a: off}}]", "the scopes are in another order, and the last one that fits counts"},
	} {
		before, err := load(t, c.before)
		if err != nil {
			t.Fatal(err)
		}
		now, err := load(t, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range now.Loosened(before, []string{"a"}, func(conf *Config, id string) diag.Level { return conf.Level(id, diag.LevelError) }) {
			got += s.Message
			if s.Location.IsZero() {
				t.Errorf("%s: %s has no place", c.now, s.Message)
			}
		}
		if got != c.want {
			t.Errorf("%s, then %s:\n%s\nwant\n%s", c.before, c.now, got, c.want)
		}
	}
}
