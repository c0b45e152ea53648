package rego

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/rules"
)

// TestWantsWhatIsReported evaluates every built-in rule with random rows. Wants must accept every
// row that a rule reports, whichever of its fields are known.
func TestWantsWhatIsReported(t *testing.T) {
	e, err := Load(Options{Rules: rules.FS})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.compile(slices.DeleteFunc(slices.Clone(e.rules), func(r *rule) bool { return r.off })); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	f := randomFacts(random, 200)
	rows, read := f.Rows(), reads{all: true}
	input := convert(f, &read)
	var silent []string
	for _, r := range e.rules {
		if r.off || r.outsideCore() {
			continue
		}
		report, err := r.program.run(context.Background(), r.code, withParams(input, r.params), nil, func(q *topdown.Query) *topdown.Query { return q })
		if err != nil {
			t.Fatalf("%s: %v", r.id, err)
		}
		if report == nil || report.Len() == 0 {
			silent = append(silent, r.id) // it reads nested rows
			continue
		}
		report.Foreach(func(term *ast.Term) {
			j, _, err := judgement(r, term)
			if err != nil {
				t.Fatalf("%s: %v", r.id, err)
			}
			fields := fieldsOf(reflect.Indirect(reflect.ValueOf(rows[j.Fact].Value)))
			some := slices.DeleteFunc(slices.Clone(fields), func([2]any) bool { return random.IntN(2) == 0 })
			for _, known := range [][][2]any{fields, some} {
				if !e.Wants(rows[j.Fact].List, flat(known)...) {
					t.Errorf("%s reports a row of %s that is not wanted: %v", r.id, rows[j.Fact].List, known)
				}
			}
		})
	}
	if len(silent) > 5 {
		t.Errorf("these rules report none of the random rows: %v", silent)
	}
}

// TestWants checks which rows the built-in rules ignore, so that no rows are built for healthy
// workloads.
func TestWants(t *testing.T) {
	e, err := Load(Options{Rules: rules.FS})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		list   string
		fields []any
		want   bool
	}{
		{"rollouts", []any{"outcome", diag.Always}, false},
		{"rollouts", []any{"outcome", diag.Unknown}, false},
		{"rollouts", []any{"outcome", diag.Never}, true},
		{"rollouts", nil, true},
		{"skews", []any{"outcome", diag.Always}, false},
		{"losses", []any{"required", false}, false},
		{"losses", []any{"required", true, "key", "kubernetes.io/hostname"}, true},
		{"losses", []any{"required", true, "outcome", diag.Always}, false},
		{"migrations", []any{"outcome", diag.Always}, false},
		{"autoscalers", []any{"outcome", diag.Always}, false},
		{"anti_affinity", []any{"outcome", diag.Always}, false},
		{"spreads", []any{"outcome", diag.Always}, false},
		{"host_ports", []any{"outcome", diag.Always}, false},
		{"room", []any{"outcome", diag.Always}, false},
		{"room", []any{"outcome", diag.Never}, true},
		{"topology_keys", []any{"with", 3, "usable", 3, "declared", true, "known", false}, false},
		{"topology_keys", []any{"with", 2, "usable", 3, "declared", true, "known", false}, true},
		{"topology_keys", []any{"with", 0, "usable", 0, "declared", false, "known", true}, false},
		{"node_labels", []any{"deprecated", false}, false},
		{"node_terms", []any{"empty", false}, false},
		{"node_matches", []any{"nodes", 3, "matching", 1}, false},
		{"sharing", []any{"outcome", diag.Always}, false},
		{"attachments", []any{"outcome", diag.Always}, false},
		{"attachments", []any{"outcome", diag.Unknown}, false},
		{"eligibility", []any{"outcome", diag.Always}, false},
		{"requests", []any{"outcome", diag.Always, "unlisted", false}, false},
		{"requests", []any{"outcome", diag.Always}, true},
		{"selectors", []any{"matches", 2, "use", "spread", "form", "set"}, false},
		{"selectors", []any{"matches", 2, "use", "spread", "form", "null"}, true},
		{"selectors", []any{"matches", 0, "use", "affinity"}, true},
		{"label_keys", []any{"on_pod", diag.Always}, false},
		{"no such list", nil, false},
	} {
		if e.Wants(c.list, c.fields...) != c.want {
			t.Errorf("%s %v: a built-in rule may report such a row: %v; want %v (narrow the rule, or change this table)", c.list, c.fields, !c.want, c.want)
		}
	}
}

// TestConditions reads bodies of every form. Unknown lines must not add conditions.
func TestConditions(t *testing.T) {
	const head = "report contains result.finding(rego.metadata.chain(), row, f) if {\n\tsome row in input.room\n"
	for body, rejects := range map[string][][]any{
		"\trow.a == \"x\"\n":                     {{"a", "y"}},
		"\trow.a != \"x\"\n":                     {{"a", "x"}},
		"\trow.a in {\"x\", \"y\"}\n":            {{"a", "z"}},
		"\trow.a\n":                              {{"a", false}},
		"\tnot row.a\n":                          {{"a", true}},
		"\trow.a > 1\n\trow.b <= row.c\n":        {{"a", 1.0}, {"b", 2.0, "c", 1.0}},
		"\trow.a == x\n":                         nil,
		"\trow.a == \"x\" # a comment\n":         nil,
		"\tevery x in row.b {\n\t\trow.a\n\t}\n": nil,
		"\tcount(row.a) == 2\n":                  nil,
		"\trow.a.b == 2\n":                       nil,
	} {
		text := "package schedlint.rules[\"x\"]\n\n" + head + body + "}\n"
		found := bodiesOf(text)["room"]
		if len(found) != 1 {
			t.Fatalf("%q: %v", body, found)
		}
		for _, fields := range append(rejects, []any{"a", "y", "b", false}) {
			want := slices.ContainsFunc(rejects, func(r []any) bool { return slices.Equal(r, fields) })
			got := slices.ContainsFunc(found[0], func(c condition) bool { return c.fails(fields) })
			if want && !got || rejects == nil && got {
				t.Errorf("%q with %v: %v", body, fields, got)
			}
		}
		if other := bodiesOf(text + "\nmany if count(input.room) > 2\n")["room"]; len(other) != 1 || other[0] != nil {
			t.Errorf("%q: a rule that uses the list in another way demands %v", body, other)
		}
	}
}

// fieldsOf returns the fields of a row that may be known, by name.
func fieldsOf(row reflect.Value) (all [][2]any) {
	for i := range row.NumField() {
		name, field := row.Type().Field(i).Tag.Get("json"), row.Field(i)
		switch field.Kind() {
		case reflect.String:
			all = append(all, [2]any{name, field.String()})
		case reflect.Int:
			all = append(all, [2]any{name, int(field.Int())})
		case reflect.Bool:
			all = append(all, [2]any{name, field.Bool()})
		}
	}
	return all
}

func flat(pairs [][2]any) (all []any) {
	for _, p := range pairs {
		all = append(all, p[0], p[1])
	}
	return all
}

// randomFacts returns random rows for every list, with the strings that rules compare with.
func randomFacts(random *rand.Rand, rows int) *facts.Facts {
	var schema any
	if err := json.Unmarshal(facts.Schema(), &schema); err != nil {
		panic(err)
	}
	texts := map[string][]string{}
	enumerations(schema, texts)
	f, id := &facts.Facts{}, 0
	lists := reflect.ValueOf(f).Elem()
	for i := range lists.NumField() {
		list := lists.Field(i)
		if list.Kind() != reflect.Slice {
			continue
		}
		for range rows {
			row := reflect.New(list.Type().Elem()).Elem()
			for k := range row.NumField() {
				field, name := row.Field(k), row.Type().Field(k).Tag.Get("json")
				switch field.Kind() {
				case reflect.String:
					of := append([]string{"", "x", "kubernetes.io/hostname"}, texts[name]...)
					field.SetString(of[random.IntN(len(of))])
				case reflect.Int:
					field.SetInt(int64(random.IntN(3)))
				case reflect.Bool:
					field.SetBool(random.IntN(2) == 0)
				}
			}
			if of := row.FieldByName("ID"); of.IsValid() {
				id++
				of.SetInt(int64(id))
			}
			list.Set(reflect.Append(list, row))
		}
	}
	return f
}

// enumerations returns the strings that the schema allows, by field name.
func enumerations(schema any, texts map[string][]string) {
	switch s := schema.(type) {
	case []any:
		for _, item := range s {
			enumerations(item, texts)
		}
	case map[string]any:
		for name, value := range s {
			if of, ok := value.(map[string]any); ok {
				values, _ := of["enum"].([]any)
				for _, v := range values {
					texts[name] = append(texts[name], v.(string))
				}
			}
			enumerations(value, texts)
		}
	}
	for _, of := range texts {
		slices.Sort(of)
	}
}
