package rego

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

// parameters is a parameter schema for METADATA.
const parameters = `
#   params:
#     type: object
#     required: [least]
#     properties:
#       least: {type: integer, minimum: 1, maximum: 9, description: the replicas that there must be}
#       namespaces: {type: array, items: {type: string, pattern: "^[a-z]+$"}, minItems: 1, default: [shop]}
#       mode: {type: string, enum: [soft, hard], default: hard}
#       share: {type: number, default: 0.5}
#       loud: {type: boolean, default: false}
#       keys: {type: array, default: [], items: {type: object, required: [key], properties: {key: {type: string}, weight: {type: integer, default: 1}}}}`

// needs returns a rule with the given id and the parameters above.
func needs(id, more string) string {
	text := strings.Replace(head, "no-default-namespace", id, 1)
	return strings.Replace(text, "category: advice", "category: policy"+more+parameters, 1) +
		`report contains result.finding(rego.metadata.chain(), fact, {"message": message}) if {
	some fact in input.workloads
	fact.namespace in input.params.namespaces
	fact.pods_min < input.params.least
	message := sprintf("%s: %d of %d, %s, %v, %v, %v", [fact.ref, fact.pods_min, input.params.least, input.params.mode, input.params.share, input.params.loud, input.params.keys])
}
`
}

// packs returns built-in rules with a pack and two templates.
func packs() fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range map[string]string{
		"no-default-namespace/rule.rego":  head + body,
		"ha/replicas/rule.rego":           strings.Replace(needs("ha.replicas", "\n#   tags: [ha]"), "required: [least]", "required: []", 1),
		"ha/zone/rule.rego":               strings.Replace(strings.Replace(head+body, "no-default-namespace", "ha.zone", 1), "category: advice", "category: fragile\n#   asks: [{survive: zone}, {survive: node}]", 1),
		"cost/small/rule.rego":            strings.Replace(head+body, "no-default-namespace", "cost.small", 1),
		"templates/needs/rule.rego":       needs("needs", "\n#   template: true"),
		"templates/survives/rule.rego":    strings.NewReplacer("no-default-namespace", "survives", "category: advice", "category: policy\n#   template: true\n#   asks: [{survive: {param: keys}}]\n#   params: {type: object, properties: {keys: {type: array, items: {type: string}, default: [zone]}}}").Replace(head + body),
		"templates/needs/rule_test.rego":  "not loaded",
		"templates/needs/deep/rule.rego":  "not loaded",
		"templates/survives/fixture.yaml": "not loaded",
	} {
		text = strings.Replace(text, "least: {type: integer", "least: {type: integer"+map[bool]string{true: ", default: 3"}[strings.HasPrefix(name, "ha/")], 1)
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

// at returns a function that returns made-up positions.
func at(path ...string) string {
	if len(path) > 2 {
		return "" // errors then use the position of the nearest enclosing value
	}
	return fmt.Sprintf("c.yaml:%d:7", 3+len(path))
}

func values(of map[string]any) Values { return Values{Values: of, At: at} }

func TestPacks(t *testing.T) {
	none, ha := loadedFrom(t, Options{Rules: packs()}), loadedFrom(t, Options{Rules: packs(), Packs: []string{"ha", "no-such-pack"}})
	if got := none.Packs(); !slices.Equal(got, []string{"cost", "ha"}) {
		t.Errorf("packs %v", got)
	}
	ids := []string{"cost.small", "ha.replicas", "ha.zone", "no-default-namespace"}
	if got := none.IDs(); !slices.Equal(got, ids) {
		t.Errorf("ids %v, want %v: those that are off included, templates left out", got, ids)
	}
	for e, want := range map[*Engine][]string{none: {"no-default-namespace"}, ha: {"ha.replicas", "ha.zone", "no-default-namespace"}} {
		var on, found []string
		for _, r := range e.Rules() {
			on = append(on, r.ID)
		}
		got, tally := tallied(t, e, defaultNamespace())
		for _, j := range got {
			found = append(found, j.Rule+" "+j.Message)
		}
		if !slices.Equal(on, want) || len(tally.Failures) > 0 {
			t.Errorf("%v are on, want %v; failures %v", on, want, tally.Failures)
		}
		if mine := slices.ContainsFunc(found, func(s string) bool {
			return s == "ha.replicas Deployment shop/web: 2 of 3, hard, 0.5, false, []"
		}); mine != (e == ha) {
			t.Errorf("found %q", found)
		}
	}
	if r, ok := none.Rule("ha.replicas"); !ok || r.Pack != "ha" || len(r.Params) != 6 || r.Params[2] != (diag.Param{Name: "loud", Type: "boolean", Default: "false"}) {
		t.Errorf("%+v, %v", r, ok)
	}
	if got, want := ha.Asks(), []Ask{{"ha.zone", "node"}, {"ha.zone", "zone"}}; !slices.Equal(got, want) {
		t.Errorf("asks %v, want %v", got, want)
	}
	if got := none.Asks(); len(got) > 0 {
		t.Errorf("asks %v of a pack that is off", got)
	}
}

func TestInstances(t *testing.T) {
	e := loadedFrom(t, Options{Rules: packs(), Off: isOneOf("quiet"),
		Instances: []Instance{
			{ID: "web", Use: "needs", Title: "Web", Owner: "team-web", Runbook: "https://example.com/x", Params: values(map[string]any{"least": 3}), Place: "c.yaml:2:3"},
			{ID: "all", Use: "needs", Params: values(map[string]any{"least": 4, "namespaces": []any{"shop", "default"}, "keys": []any{map[string]any{"key": "a"}}})},
			{ID: "quiet", Use: "needs", Params: values(map[string]any{"least": 9})},
			{ID: "two", Use: "survives", Params: values(map[string]any{"keys": []any{"example.com/rack", "node"}})},
		},
		Params: map[string]Values{"all": values(map[string]any{"mode": "soft"})},
	})
	got, tally := tallied(t, e, defaultNamespace())
	want := []facts.Judgement{
		{Rule: "all", Fact: 1, Message: `Deployment shop/web: 2 of 4, soft, 0.5, false, [{"key": "a", "weight": 1}]`},
		{Rule: "web", Fact: 1, Message: "Deployment shop/web: 2 of 3, hard, 0.5, false, []"},
		{Rule: "all", Fact: 2, Message: `Deployment default/web: 3 of 4, soft, 0.5, false, [{"key": "a", "weight": 1}]`},
		{Rule: "no-default-namespace", Fact: 2, Message: "Deployment default/web: 3 pods live in the default namespace"},
		{Rule: "two", Fact: 2, Message: "Deployment default/web: 3 pods live in the default namespace"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(tally.Failures) > 0 {
		t.Error(tally.Failures, diff)
	}
	if got, want := e.Asks(), []Ask{{"two", "example.com/rack"}, {"two", "node"}}; !slices.Equal(got, want) {
		t.Errorf("asks %v, want %v", got, want)
	}
	web, _ := e.Rule("web")
	if diff := cmp.Diff(diag.Rule{ID: "web", Use: "needs", Title: "Web", Description: "The default namespace is nobody's.", Category: "policy", Level: diag.LevelError,
		Owner: "team-web", Runbook: "https://example.com/x"}, web); diff != "" {
		t.Error(diff)
	}
	if !e.Whole("workloads") {
		t.Error("instances judge healthy rows, too")
	}
	if r, ok := e.Rule("needs"); !ok || !r.Template || slices.Contains(e.IDs(), "needs") {
		t.Errorf("template %+v, ids %v", r, e.IDs())
	}
}

// TestOwnTemplate checks that each instance of a custom template has its own budget and failures.
func TestOwnTemplate(t *testing.T) {
	text := strings.Replace(needs("mine", "\n#   template: true"), "fact.pods_min < input", "1 / (input.params.least - 5) != 7\n\tfact.pods_min < input", 1)
	dir := folder(t, map[string]string{"mine/rule.rego": text})
	e := loadedFrom(t, Options{Dirs: []string{dir}, Instances: []Instance{
		{ID: "good", Use: "mine", Params: values(map[string]any{"least": 4})},
		{ID: "bad", Use: "mine", Params: values(map[string]any{"least": 5})},
	}})
	got, tally := tallied(t, e, defaultNamespace())
	if len(got) != 1 || got[0].Rule != "good" || len(tally.Failures) != 1 || tally.Failures[0].Rule != "bad" {
		t.Errorf("got %v, failures %v", got, tally.Failures)
	}
	if tally.Steps["good"] == 0 || tally.Steps["bad"] == 0 || tally.Steps["mine"] != 0 {
		t.Errorf("steps %v, want those of each instance", tally.Steps)
	}
}

// TestParameterErrors checks the error messages about the configuration.
func TestParameterErrors(t *testing.T) {
	huge := make([]any, maxParamItems+1)
	one := func(name string, value any) Options {
		return Options{Params: map[string]Values{"ha.replicas": values(map[string]any{name: value})}}
	}
	uses := func(i Instance) Options {
		i.Place = "c.yaml:2:3"
		return Options{Instances: []Instance{i}}
	}
	const where = "c.yaml:4:7: rules.ha.replicas.params."
	for name, c := range map[string]struct {
		opts Options
		want string
	}{
		"unknown":         {one("nmaespaces", 1), where + "nmaespaces: unknown parameter (did you mean namespaces?); expected keys, least, loud, mode, namespaces, share"},
		"text for list":   {one("namespaces", "shop"), where + `namespaces: expected a list, found "shop"`},
		"empty list":      {one("namespaces", []any{}), where + "namespaces: expected from 1 to 1000 items, found 0"},
		"long list":       {one("namespaces", huge), where + "namespaces: expected from 1 to 1000 items, found 1001"},
		"no match":        {one("namespaces", []any{"shop", "Shop"}), `c.yaml:5:7: rules.ha.replicas.params.namespaces[1]: expected a match of ^[a-z]+$, found "Shop"`},
		"list for text":   {one("mode", []any{"x"}), where + "mode: expected a string, found a list"},
		"not in enum":     {one("mode", "sofd"), where + `mode: expected one of soft, hard, found "sofd" (did you mean soft?)`},
		"large text":      {one("mode", strings.Repeat("x", maxParamText+1)), where + "mode: expected at most 4096 bytes, found 4097"},
		"text for bool":   {one("loud", "true"), where + `loud: expected true or false, found "true"`},
		"half an integer": {one("least", 1.5), where + "least: expected an integer, found 1.5"},
		"text for number": {one("share", "1"), where + `share: expected a number, found "1"`},
		"not a number":    {one("share", math.NaN()), where + "share: expected a number, found NaN"},
		"infinite":        {one("share", math.Inf(1)), where + "share: expected a number, found +Inf"},
		"null":            {one("share", nil), where + "share: expected a number, found null"},
		"odd type":        {one("share", struct{}{}), where + "share: expected a number, found a value of another kind"},
		"too small":       {one("least", 0), where + "least: expected at least 1, found 0"},
		"too large":       {one("least", uint64(math.MaxUint64)), where + "least: expected an integer, found 18446744073709551615"},
		"deep":            {one("keys", []any{map[string]any{"key": 1}}), "c.yaml:5:7: rules.ha.replicas.params.keys[0].key: expected a string, found 1"},
		"deep and unknown": {one("keys", []any{map[string]any{"key": "a", "wieght": 1}}),
			"c.yaml:5:7: rules.ha.replicas.params.keys[0].wieght: unknown parameter (did you mean weight?); expected key, weight"},
		"deep and missing": {one("keys", []any{map[string]any{}}), "c.yaml:5:7: rules.ha.replicas.params.keys[0].key: missing; expected a string"},
		"no rule":          {Options{Params: map[string]Values{"ha.replica": values(nil)}}, "c.yaml:3:7: rules.ha.replica.params: unknown rule (did you mean ha.replicas?)"},
		"no parameters": {Options{Params: map[string]Values{"ha.zone": values(map[string]any{"x": 1})}},
			"c.yaml:3:7: rules.ha.zone.params: the rule takes no parameters"},
		"template": {Options{Params: map[string]Values{"needs": values(map[string]any{"least": 1})}},
			"c.yaml:3:7: rules.needs.params: needs is a template and never runs"},
		"unknown template":   {uses(Instance{ID: "x", Use: "need"}), "c.yaml:2:3: x uses the unknown template need (did you mean needs?)"},
		"no template":        {uses(Instance{ID: "x", Use: "no-default-namespace"}), "c.yaml:2:3: x uses no-default-namespace, which takes no parameters; give it a level under rules:"},
		"id of a rule":       {uses(Instance{ID: "ha.zone", Use: "needs"}), "c.yaml:2:3: a rule has the id ha.zone already; choose another id"},
		"id of a template":   {uses(Instance{ID: "needs", Use: "needs"}), "c.yaml:2:3: a rule has the id needs already; choose another id"},
		"id of an instance":  {Options{Instances: []Instance{{ID: "x", Use: "survives", Place: "c.yaml:1:1"}, {ID: "x", Use: "survives", Place: "c.yaml:2:3"}}}, "c.yaml:2:3: x exists already, at c.yaml:1:1; choose another id"},
		"use of an instance": {Options{Instances: []Instance{{ID: "x", Use: "survives"}, {ID: "y", Use: "x", Place: "c.yaml:2:3"}}}, "c.yaml:2:3: y uses x, which uses survives itself; use that one"},
		"bad id":             {uses(Instance{ID: "X y", Use: "needs"}), `c.yaml:2:3: the id "X y" is not made of lower-case words`},
		"bad runbook":        {uses(Instance{ID: "x", Use: "survives", Runbook: "javascript:alert(1)"}), `c.yaml:2:3: x has the owner or runbook "javascript:alert(1)"; expected an address such as https://`},
		"bad title":          {uses(Instance{ID: "x", Use: "survives", Title: "a\nb"}), "c.yaml:2:3: x has a title of several lines; give one"},
		"missing":            {uses(Instance{ID: "x", Use: "needs"}), "c.yaml:2:3: custom.x.params.least: missing; expected an integer"},
		"too many":           {Options{Instances: make([]Instance, maxInstances+1)}, "expected at most 1000 rules that use templates, found 1001"},
		"of an instance":     {uses(Instance{ID: "x", Use: "needs", Params: values(map[string]any{"least": 99})}), "c.yaml:4:7: custom.x.params.least: expected at most 9, found 99"},
		"bad key to ask":     {uses(Instance{ID: "x", Use: "survives", Params: Values{Values: map[string]any{"keys": []any{"a b"}}}}), `c.yaml:2:3: custom.x.params.keys: with survive "a b"; expected node, region, zone or the key of a node label`},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.Rules = packs()
			if _, err := Load(c.opts); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v\n want %q", err, c.want)
			}
		})
	}
}

// TestOpenParameters checks parameters with any keys and values: within the limits, they reach the
// rule as they are.
func TestOpenParameters(t *testing.T) {
	rule := strings.Replace(head, "category: advice", "category: policy\n#   params: {type: object, properties: {x: {type: object, additionalProperties: true, default: {}}}}", 1) +
		`report contains result.finding(rego.metadata.chain(), row, {"message": json.marshal(input.params.x)}) if some row in input.workloads
`
	deep := any("x")
	for range maxSchemaDepth {
		deep = map[string]any{"a": deep}
	}
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"anything":  {map[string]any{"a b": []any{1, "x", nil, true, map[string]any{"C": 1.5}}}, `{"a b":[1,"x",null,true,{"C":1.5}]}`},
		"text":      {"x", `expected a map, found "x"`},
		"deep":      {map[string]any{"a": deep}, "expected at most 10000 values, at most 8 levels deep"},
		"large":     {map[string]any{"a": strings.Repeat("x", maxParamText+1)}, "x.a: expected at most 4096 bytes, found 4097"},
		"large key": {map[string]any{strings.Repeat("x", maxParamText+1): 1}, "x: expected keys of at most 4096 bytes"},
		"many":      {map[string]any{"a": make([]any, maxParamItems+1)}, "x.a: expected from 0 to 1000 items, found 1001"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Load(Options{
				Dirs:   []string{folder(t, map[string]string{"x.rego": rule})},
				Params: map[string]Values{"no-default-namespace": {Values: map[string]any{"x": c.value}}},
			})
			got := fmt.Sprint(err)
			if err == nil {
				got = evaluated(t, e, healthy(1))[0].Message
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestParameterErrorsEnd checks that neither a huge value nor a value with errors everywhere takes
// unlimited time.
func TestParameterErrorsEnd(t *testing.T) {
	item := map[string]any{}
	for i := range 100 {
		item[fmt.Sprint("k", i)] = i
	}
	given := make([]any, maxParamItems)
	for i := range given {
		given[i] = item
	}
	_, err := Load(Options{Rules: packs(), Params: map[string]Values{"ha.replicas": {Values: map[string]any{"keys": given}}}})
	if n := strings.Count(fmt.Sprint(err), "\n") + 1; err == nil || n != maxParamErrors {
		t.Errorf("%d lines of errors, want %d: %.300v", n, maxParamErrors, err)
	}
	many := &schema{kind: "array", items: &schema{kind: "array", items: &schema{kind: "string"}}}
	row := slices.Repeat([]any{"x"}, maxParamItems)
	if _, err := many.fit("rules.x.params", Values{}); err == nil {
		t.Error("a map fits a list")
	}
	c := &checker{name: "x"}
	c.value(many, slices.Repeat([]any{any(row)}, maxParamItems), nil)
	if len(c.errs) != 1 || c.errs[0].Error() != "x: expected at most 10000 values" {
		t.Errorf("errors %v", c.errs)
	}
}

// TestCustomErrors checks the error messages about the METADATA of a rule.
func TestCustomErrors(t *testing.T) {
	param := func(text string) string { return "params: {type: object, properties: {x: " + text + "}}" }
	nested := strings.Repeat("{type: array, items: ", maxSchemaDepth) + "{type: string}" + strings.Repeat("}", maxSchemaDepth)
	many := "params: {type: object, properties: {"
	for i := range maxSchemas + 5 {
		many += fmt.Sprintf("x%d: {type: string, default: a}, ", i)
	}
	for text, want := range map[string]string{
		"level: eror":                        `custom.level "eror" (did you mean error?); it is one of error, warning, note, off`,
		"level: 1":                           "custom.level 1; it is one of",
		"owner: [a]":                         "custom.owner a list; expected a name",
		`owner: "a\nb"`:                      `custom.owner "a\nb"; expected a name`,
		"owner: " + strings.Repeat("x", 201): `custom.owner "` + strings.Repeat("x", 100) + `..."; expected one line of at most 200 bytes`,
		"runbook: 3":                         "custom.runbook 3; expected an address such as https://",
		"runbook: javascript:alert(1)":       `custom.runbook "javascript:alert(1)"; expected an address`,
		"runbook: https://":                  `custom.runbook "https://"; expected an address`,
		"runbook: https://a:b@c.org/":        `custom.runbook "https://a:b@c.org/"; expected an address`,
		"runbook: 'https://a.org/<x>'":       `custom.runbook "https://a.org/<x>"; expected an address`,
		"tags: ha":                           `custom.tags "ha"; expected a list of at most 20 words`,
		"tags: [Ha]":                         `custom.tags with "Ha"; expected lower-case words`,
		"tags: ['a b']":                      `custom.tags with "a b"; expected lower-case words`,
		"template: maybe":                    `custom.template "maybe"; expected true or false`,
		"asks: zone":                         `custom.asks "zone"; expected a list such as [{survive: zone}]`,
		"asks: [{survives: zone}]":           "custom.asks with a map; expected a list such as",
		"asks: [{survive: 'a b'}]":           `custom.asks with survive "a b"; expected node, region, zone or the key of a node label`,
		"asks: [{survive: {param: x}}]":      "custom.asks with the parameter x; expected one of custom.params that is a string or a list of strings",
		"asks: [{survive: {prm: x}}]":        "custom.asks with survive a map; expected a key or {param: NAME}",
		"params: [x]":                        "custom.params, which is a list; expected a map with a type",
		"params: {type: string}":             "custom.params, which is of type string; expected type: object with properties",
		"params: {type: object}":             "custom.params, which has no properties; name them with their types",
		"params: {properties: {}}":           "custom.params, which has no type; expected one of string, integer, number, boolean, array, object",
		"params: {type: object, additionalProperties: true, properties: {x: {type: string, default: a}}}": "custom.params, which has properties and additionalProperties; drop one of the two",
		"params: {type: object, additionalProperties: true}":                                              "custom.params, which has additionalProperties; name the parameters under properties",
		param("{type: object, additionalProperties: false}"):                                              "custom.params.properties.x.additionalProperties, which is false; expected true, for any keys and values",
		"params: {type: object, required: [y], properties: {x: {type: string, default: a}}}":              `custom.params.required, which holds "y" (did you mean x?); expected names of properties`,
		"params: {type: object, required: [x], properties: {x: {type: string, default: a}}}":              "custom.params.required, which holds x, which has a default; drop one of the two",
		"params: {type: object, properties: {'a b': {type: string, default: a}}}":                         `custom.params.properties, which holds the name "a b"; expected lower-case letters`,
		param("{type: string}"):                                                                "custom.params.properties.x, which has no default; give one or list x in required",
		param("{type: strng, default: a}"):                                                     `custom.params.properties.x.type, which is "strng" (did you mean string?); expected one of string,`,
		param("{type: string, default: 1}"):                                                    "custom.params.properties.x.default, which does not fit its schema: default: expected a string, found 1",
		param("{type: string, minimum: 1, default: a}"):                                        "custom.params.properties.x.minimum, which type string does not take; it is for integer, number",
		param("{type: integer, minimum: a, default: 1}"):                                       `custom.params.properties.x.minimum, which is "a"; expected a number`,
		param("{type: integer, enum: [1, a], default: 1}"):                                     `custom.params.properties.x.enum, which holds "a"; expected an integer`,
		param("{type: integer, enum: [], default: 1}"):                                         "custom.params.properties.x.enum, which is a list; expected a list of values",
		param("{type: array, default: []}"):                                                    "custom.params.properties.x, which has no items; say of what type they are",
		param("{type: array, items: {type: string}, minItems: -1}"):                            "custom.params.properties.x.minItems, which is -1; expected an integer from 0 to 1000",
		param("{type: array, items: {type: string}, minItems: 2, default: [a]}"):               "custom.params.properties.x.default, which does not fit its schema: default: expected from 2 to 1000 items, found 1",
		param("{type: string, pattern: '(', default: a}"):                                      "custom.params.properties.x.pattern, which is no regular expression: ",
		param("{type: string, pattern: '" + strings.Repeat("(.{900})", 99) + "', default: a}"): "custom.params.properties.x.pattern, which is too large; expected at most 1000 bytes",
		param("{type: string, description: 3, default: a}"):                                    "custom.params.properties.x.description, which is 3; expected a string",
		param(nested): "custom.params.properties.x.items.items.items.items.items.items.items, which is nested more than 8 levels deep",
		many + "}}":   "custom.params, which holds more than 200 schemas",
	} {
		rule := strings.Replace(head+body, "category: advice", "category: policy\n#   "+text, 1)
		_, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": rule})}})
		if want = "policies/x.rego:1: METADATA has " + want; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v\n want %q", cut(text), err, want)
		}
	}
}

// TestParametersAreTyped checks that a rule does not load if it uses a misspelled parameter or
// compares a parameter with a value of another type.
func TestParametersAreTyped(t *testing.T) {
	for old, want := range map[string]struct{ text, want string }{
		"input.params.least\n":       {"input.params.laest\n", "policies/x.rego:25: laest does not exist here (did you mean least?); there are keys, least, loud, mode, namespaces, share"},
		"in input.params.namespaces": {"== input.params.namespaces", "policies/x.rego:24: match error: left : string right : array[string]"},
		"input.params.keys]":         {"input.params.keys[0].wieght]", "policies/x.rego:26: wieght does not exist here (did you mean weight?); there are key, weight"},
		"input.workloads":            {"input.worklods", "policies/x.rego:23: worklods does not exist here (did you mean workloads?)"},
	} {
		text := needs("x", "")
		if !strings.Contains(text, old) {
			t.Fatalf("no %q in\n%s", old, text)
		}
		_, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": strings.Replace(text, old, want.text, 1)})}})
		if err == nil || !strings.HasPrefix(err.Error(), want.want) {
			t.Errorf("error %v\n want %q", err, want.want)
		}
	}
}

// TestCustomKeys checks all keys below custom.
func TestCustomKeys(t *testing.T) {
	text := strings.Replace(head+body, "category: advice", "category: policy\n#   level: off\n#   owner: team-sre\n#   runbook: https://example.com/a?b=c\n#   tags: [ha, cost, ha]\n#   replaces: no-default-namespace", 1)
	e := loadedFrom(t, Options{Rules: packs(), Dirs: []string{folder(t, map[string]string{"x.rego": text})}})
	got, _ := e.Rule("no-default-namespace")
	want := diag.Rule{ID: "no-default-namespace", Title: "Workloads outside of the default namespace", Description: "The default namespace is nobody's.",
		Category: "policy", Level: diag.LevelOff, Owner: "team-sre", Runbook: "https://example.com/a?b=c", Tags: []string{"ha", "cost"}, Replaces: "no-default-namespace"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all := e.Altered(nil); len(all) != 1 || all[0].Message != "rule no-default-namespace takes the place of the built-in one" {
		t.Errorf("altered %v", all)
	}
	if got, err := e.Evaluate(context.Background(), defaultNamespace(), facts.NewTally()); err != nil || len(got) != 1 {
		t.Errorf("%v, %v; want the finding of one of the two", got, err)
	}
}
