package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/limits"
)

// TestRefused checks that a chart that does something unsupported or costs too much yields an
// error with position and reason, rather than output, a panic or an endless loop.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ chart, want string }{
		"missing dependency": {
			"dependencies:\n- name: other\n  version: 1.0.0\n- name: common\n  version: 2.x\n-- charts/other/Chart.yaml --\napiVersion: v2\nname: other\nversion: 1.0.0\n",
			"Chart.yaml:7: dependency common 2.x is not in charts/: run helm dependency build and commit charts/",
		},
		"library": {"type: library\n", `Chart.yaml:4: a chart of type "library" cannot be installed: render a chart that depends on it`},
		"required": {
			"-- templates/a.yaml --\na: 1\nb: {{ required \"set .Values.host\" .Values.host }}\n",
			"templates/a.yaml:2: set .Values.host",
		},
		"required in a helper": {
			"-- templates/_a.tpl --\n{{ define \"a\" }}\n{{ required \"set .Values.host\" .Values.host }}{{ end }}\n-- templates/a.yaml --\n{{ include \"a\" . }}\n",
			"templates/_a.tpl:2: set .Values.host",
		},
		"fail":                    {"-- templates/a.yaml --\n\n{{ fail \"no: way\" }}\n", "templates/a.yaml:2: no: way"},
		"fail in tpl":             {"-- templates/a.yaml --\n\n{{ tpl `{{ fail \"no\" }}` . }}\n", "templates/a.yaml:2: no"},
		"nil pointer":             {"-- templates/a.yaml --\n{{ .Values.a.b.c }}\n", `templates/a.yaml:1: executing "shop/templates/a.yaml" at <.Values.a.b.c>: nil pointer evaluating interface {}.b`},
		"randInt":                 {"-- templates/a.yaml --\n\n{{ randInt 5 5 }}\n", "randInt: the second number must be larger than the first"},
		"certificate":             {"-- templates/a.yaml --\n\n{{ buildCustomCert `-` `a2V5` }}\n", "unable to decode base64 certificate"},
		"key":                     {"-- templates/a.yaml --\n\n{{ buildCustomCert `Y2VydA==` `-` }}\n", "unable to decode base64 private key"},
		"included":                {"-- templates/a.yaml --\n\n{{ include `none` . }}\n", `templates/a.yaml:2: executing "shop/templates/a.yaml" at <include ` + "`none`" + ` .>: error calling include: no template "none" is defined`},
		"long detail":             {"-- templates/a.yaml --\n{{ fail (print (repeat 1000 `a`) `b` (repeat 1000 `c`)) }}\n", "templates/a.yaml:1: " + strings.Repeat("a", 1000) + " ... " + strings.Repeat("c", 1000)},
		"not quite a long detail": {"-- templates/a.yaml --\n{{ fail (print (repeat 1000 `a`) (repeat 1000 `c`)) }}\n", "templates/a.yaml:1: " + strings.Repeat("a", 1000) + strings.Repeat("c", 1000)},
		"two files":               {"-- values.yaml --\na: 1\n-- values.yaml --\na: 2\n", "values.yaml:1: there are two files of this name"},
		"syntax":                  {"-- templates/a.yaml --\na\n{{ if }}\n", "templates/a.yaml:2: the template cannot be parsed: missing value for if"},
		"env":                     {"-- templates/a.yaml --\n{{ env \"HOME\" }}\n", `templates/a.yaml:1: the template cannot be parsed: function "env" not defined`},
		"kubeVersion":             {"kubeVersion: '>=1.99'\n-- templates/a.yaml --\n", "Chart.yaml:4: the chart requires Kubernetes >=1.99, but the version is v1.36.0"},
		"schema": {
			"-- values.schema.json --\n{\"properties\": {\"a\": {\"type\": \"string\"}}}\n-- values.yaml --\na: 1\n",
			"values.schema.json:1: the values do not meet the schema",
		},
		"deep schema":               {"-- values.schema.json --\n" + strings.Repeat(`{"not": `, 5000) + "{}" + strings.Repeat("}", 5000), "values.schema.json:1: the schema is nested more than 500 deep"},
		"deep and wide schema":      {"-- values.schema.json --\n" + strings.Repeat(`{"not": `, 400) + `{"enum": [` + strings.Repeat("1,", 200_000) + "1]}" + strings.Repeat("}", 400), "values.schema.json:1: the schema takes more than 1000000 steps to read"},
		"large number in a schema":  {"-- values.schema.json --\n{\"properties\": {\"a\": {\"multipleOf\": 1e300000000}}}\n-- values.yaml --\na: 7\n", "values.schema.json:1: the schema has a number of more than 400 digits"},
		"large pattern in a schema": {"-- values.schema.json --\n{\"properties\": {\"a\": {\"pattern\": \"" + strings.Repeat("(x{1000})", 60) + "\"}}}\n", "values.schema.json:1: a regular expression makes 60"},
		"slow pattern in a schema":  {"-- values.schema.json --\n{\"properties\": {\"a\": {\"pattern\": \"^(x+x+){900}y\"}}}\n-- values.yaml --\na: " + strings.Repeat("x", 1<<20) + "\n", "values.schema.json:1: rendering is limited to 10000000 steps"},
		"schema bomb":               {"-- values.schema.json --\n" + schemaBomb(), "values.schema.json:1: holding the values against the schema takes more than 1000000 steps"},
		"values":                    {"-- -f:prod.yaml --\na: 1\nb: [\n", "prod.yaml:"},
		"own values":                {"-- values.yaml --\na: [\n", "values.yaml:1: cannot load values.yaml"},
		"values of 10MB":            {"-- -f:prod.yaml --\na: " + strings.Repeat("x", 10<<20), "values files are limited to 2097152"},
		"a file of 10MB":            {"-- values.yaml --\na: " + strings.Repeat("x", 10<<20), "files of charts are limited to 5242880"},
		"deep values":               {"-- values.yaml --\na: " + strings.Repeat("[", 100_000), "values.yaml:1: cannot load values.yaml"},
		"name outside":              {"-- ../values.yaml --\na: 1\n", `"../values.yaml" leads outside the chart`},
		"no method":                 {"-- templates/a.yaml --\n{{ .Values.Encode }}\n{{ .Values.Encode.x }}\n", "templates/a.yaml:2: "},
		"bad helmignore":            {"-- .helmignore --\n**/x\n", ".helmignore:1: double-star (**) syntax is not supported"},
		"release name":              {"-- --name --\nx", `release name "No_Good"`},
	} {
		t.Run(name, func(t *testing.T) {
			in := chartOf(shop + c.chart)
			if name == "release name" {
				in.Name = "No_Good"
			}
			refuses(t, in, limits.ChartSteps, c.want)
		})
	}
}

// TestVersions checks the versions of Kubernetes and Helm that templates are told, and those that are none.
func TestVersions(t *testing.T) {
	in := chartOf(shop + "-- templates/a.yaml --\n{{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.HelmVersion.Version }}")
	in.KubeVersion, in.HelmVersion = "1.31.2", "3.10.1"
	if res, err := Render(in); err != nil || string(res.Manifests[0].Text) != "v1.31.2 v3.10.1\n" {
		t.Errorf("%v, %+v", err, res)
	}
	in.HelmVersion = "three"
	refuses(t, in, limits.ChartSteps, `Chart.yaml:1: Helm version "three": `)
	in.KubeVersion = "new"
	refuses(t, in, limits.ChartSteps, `Chart.yaml:1: Kubernetes version "new": `)
}

// TestDeepSchemas nests a value just as deep as a schema may follow it, through each keyword that takes a
// step. One more is refused.
func TestDeepSchemas(t *testing.T) {
	const table, list, draft7 = "{t: ", "[", `"$schema": "http://json-schema.org/draft-07/schema#", `
	for keyword, c := range map[string]struct{ open, draft, schema string }{
		"properties":           {table, "", `{"properties": {"t": %[1]s}}`},
		"patternProperties":    {table, "", `{"patternProperties": {".*": %[1]s}}`},
		"additionalProperties": {table, "", `{"additionalProperties": %[1]s}`},
		"allOf":                {table, "", `{"properties": {"t": {"allOf": [%[1]s]}}}`},
		"dependentSchemas":     {table, "", `{"properties": {"t": {"dependentSchemas": {"t": %[1]s}}}}`},
		"dependencies":         {table, draft7, `{"properties": {"t": {"dependencies": {"t": %[1]s}}}}`},
		"items":                {list, "", `{"items": %[1]s}`},
		"contains":             {list, "", `{"contains": %[1]s, "minContains": 0}`},
		"unevaluatedItems":     {list, "", `{"unevaluatedItems": %[1]s}`},
		"prefixItems":          {list, "", `{"prefixItems": [%[1]s]}`},
		"items before 2020":    {list, draft7, `{"items": %[1]s}`},
		"items by position":    {list, draft7, `{"items": [%[1]s]}`},
		"additionalItems":      {"[0, ", draft7, `{"items": [{}], "additionalItems": %[1]s}`},
	} {
		steps := 2 // into the value, and by $ref
		if strings.Contains(c.schema, `{"t": {"`) {
			steps = 3
		}
		again := `{"$ref": "#/definitions/n"}`
		text := "-- values.schema.json --\n{" + c.draft + `"properties": {"t": ` + again + `}, "definitions": {"n": ` + fmt.Sprintf(c.schema, again) + "}}\n-- values.yaml --\n" +
			"t: %s\n-- templates/a.yaml --\na: 1\n"
		innermost, shut := "[]", "]"
		if c.open == table {
			innermost, shut = "{}", "}"
		}
		deep := (1000 - steps) / steps
		for depth, refused := range map[int]bool{deep: false, deep + 2: true} {
			values := strings.Repeat(c.open, depth) + innermost + strings.Repeat(shut, depth)
			if _, err := render(chartOf(shop+fmt.Sprintf(text, values)), limits.ChartSteps); (err != nil) != refused {
				t.Errorf("%s, %d deep: %v", keyword, depth, err)
			}
		}
	}
}

// TestUniqueItems checks that comparing each item of a list with each other counts.
func TestUniqueItems(t *testing.T) {
	for n, refused := range map[int]bool{999: false, 1000: true} {
		var list strings.Builder
		for i := range n {
			fmt.Fprintf(&list, "- %d\n", i)
		}
		_, err := Render(chartOf(shop + "-- values.schema.json --\n{\"properties\": {\"a\": {\"uniqueItems\": true}}}\n-- values.yaml --\na:\n" + list.String()))
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "takes more than 1000000 steps") {
			t.Errorf("%d items: %v", n, err)
		}
	}
}

func refuses(t *testing.T, in Input, steps int, want string) *Problem {
	t.Helper()
	_, err := render(in, steps)
	var p *Problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v, want a problem", err)
	}
	if !strings.Contains(p.Error(), want) {
		t.Errorf("%s\nwant %s", p, want)
	}
	if p.File == "" || p.Line < 1 || len(p.Detail) > maxDetail+10 {
		t.Errorf("a problem at %q:%d with %d bytes", p.File, p.Line, len(p.Detail))
	}
	return p
}

func schemaBomb() string {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/a0", "$defs": {`)
	for i := range 40 {
		fmt.Fprintf(&b, `"a%d": {"allOf": [{"$ref": "#/$defs/a%d"}, {"$ref": "#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	return b.String() + `"a40": {}}}`
}

// TestLimits renders templates that would run endlessly or exhaust the memory.
func TestLimits(t *testing.T) {
	many := strings.Repeat("%[1]999999d", 100)
	for name, text := range map[string]string{
		"range over numbers":  "{{ range 1000000000 }}{{ end }}",
		"range with text":     "{{ range 1000000000 }}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{ end }}",
		"range in range":      "{{ range until 10000 }}{{ range until 10000 }}{{ end }}{{ end }}",
		"empty ifs":           "{{ range 1000000000 }}{{ if 0 }}{{ end }}{{ end }}",
		"repeat":              `{{ repeat 1000000000 "x" }}`,
		"repeat overflows":    `{{ repeat 9223372036854775807 "xx" }}`,
		"seq of two":          "{{ seq 1 1000000000 }}",
		"repeat of repeat":    `{{ $x := "x" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}`,
		"until":               "{{ until 1000000000 }}",
		"untilStep":           "{{ untilStep 0 1000000000 1 }}",
		"untilStep overflows": "{{ untilStep 9223372036854775806 9223372036854775807 2 }}",
		"seq":                 "{{ seq 1000000000 }}",
		"seq of three":        "{{ seq 0 1 1000000000 }}",
		"indent":              `{{ indent 1000000000 "x" }}`,
		"nindent":             `{{ nindent 1000000 (repeat 100 "\n") }}`,
		"printf":              `{{ printf "` + many + `" 1 }}`,
		"printf with a star":  `{{ printf "` + strings.Repeat("%[1]*d", 100) + `" 999999 }}`,
		"printf of a text":    `{{ $x := repeat 1000000 "x" }}{{ printf "` + strings.Repeat("%[1]s", 100) + `" $x }}`,
		"replace":             `{{ $x := repeat 10000 "x" }}{{ replace "x" $x $x }}`,
		"join":                `{{ join (repeat 1000000 "x") (until 1000) }}`,
		"wrapWith":            `{{ wrapWith 1 (repeat 100000 "x") (repeat 10000 "y ") }}`,
		"lists in lists":      `{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}`,
		"printed lists":       `{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}`,
		"quoted lists":        `{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ quote $x }}`,
		"concat":              `{{ $x := list 1 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}`,
		"a printed cycle":     `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $x }}`,
		"a pretty cycle":      `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ toYamlPretty $x }}`,
		"deep copies":         `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ deepCopy $x }}`,
		"include":             `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`,
		"include of two":      `{{ define "x" }}{{ include "y" . }}{{ end }}{{ define "y" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`,
		"include twice":       `{{ define "x" }}{{ if lt . 60 }}{{ include "x" (add1 .) }}{{ include "x" (add1 .) }}{{ end }}{{ end }}{{ include "x" 1 }}`,
		"included text":       `{{ define "x" }}{{ if lt . 60 }}{{ $x := include "x" (add1 .) }}{{ $x }}{{ $x }}{{ else }}x{{ end }}{{ end }}{{ include "x" 1 }}`,
		"template":            `{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}`,
		"template twice":      `{{ define "x" }}{{ if lt . 60 }}{{ template "x" (add1 .) }}{{ template "x" (add1 .) }}{{ end }}{{ end }}{{ template "x" 1 }}`,
		"tpl in tpl":          `{{ tpl .Values.self . }}`,
		"tpl in range":        `{{ range 1000000000 }}{{ tpl "{{ . }}" . }}{{ end }}`,
		"many regexes":        `{{ range 1000000000 }}{{ regexMatch "(a|b)*c" "aaaaaaa" }}{{ end }}`,
		"a long regex":        `{{ regexMatch (repeat 10001 "a") "a" }}`,
		"a large regex":       `{{ regexMatch "` + strings.Repeat("a{1000}", 60) + `" "a" }}`,
		"a slow regex":        `{{ regexMatch "(x+x+){900}y" (repeat 1000000 "x") }}`,
		"regex replaced":      `{{ regexReplaceAll "x" (repeat 100000 "x") (repeat 1000 "y") }}`,
		"uniq":                `{{ range until 100 }}{{ uniq (until 3000) }}{{ end }}`,
		"random":              `{{ randAlphaNum 1000000000 }}`,
		"files":               `{{ range 1000000000 }}{{ $.Files.Lines "big.txt" }}{{ end }}`,
		"a large output":      `{{ range 1000 }}{{ repeat 100000 "x" }}{{ end }}`,
		"blank lines":         `{{ range 1000 }}{{ repeat 10000 "\n" }}{{ end }}`,
		"deep parentheses":    "{{ " + strings.Repeat("(", 20000) + "1" + strings.Repeat(")", 20000) + " }}",
		"a number of a cycle": `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ max 1 $x }}`,
		"shared keys":         `{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ get (dict $x 1) "x" }}`,
		"many regexes twice":  `{{ range 1000000000 }}{{ regexMatch "a{1000}b{1000}" "x" }}{{ end }}`,
		"many parts":          `{{ $x := repeat 1000000 "x" }}{{ splitList "" $x }}`,
		"many keys":           `{{ $x := repeat 1000000 "x" }}{{ split "" $x }}`,
		"printf of a list":    `{{ $x := until 1000 }}{{ printf "` + strings.Repeat("%[1]v", 10_000) + `" $x }}`,
		"printf quotes":       `{{ $x := repeat 3000000 "x" }}{{ printf "%q" $x }}`,
		"deep indentation":    `{{ $x := until 1000 }}{{ range until 5000 }}{{ $x = list $x }}{{ end }}{{ toPrettyJson $x }}`,
		"much to trim":        `{{ $x := repeat 500000 "ä" }}{{ trimAll $x $x }}`,
		"many factors":        `{{ mulf ` + strings.Repeat("1e308 ", 2000) + `}}`,
		"TOML with long keys": `{{ fromToml (printf "[%s]\n%s" (repeat 100000 "a.") (repeat 10000 "a = 1\n")) }}`,
		"TOML with dots":      `{{ fromToml (printf "%sa = 1" (repeat 100000 "a.")) }}`,
		"YAML of many values": `{{ fromYaml (printf "a: [%s]" (repeat 500000 ",")) }}`,
	} {
		t.Run(name, func(t *testing.T) {
			in := chartOf(shop + "-- values.yaml --\nself: '{{ tpl .Values.self . }}'\n")
			in.Files = append(in.Files, File{"templates/a.yaml", []byte("\n" + text)}, File{"big.txt", bytes.Repeat([]byte("x\n"), 1<<20)})
			p := refuses(t, in, 500_000, "templates/a.yaml:2: ")
			if !strings.Contains(p.Detail, "limit") && !strings.Contains(p.Detail, "nested") && !strings.Contains(p.Detail, "depth") {
				t.Errorf("no limit is named: %s", p)
			}
		})
	}
}

// TestHostile checks that small templates with huge or endless results are refused before the
// result is computed, even if the chart may use all steps.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"a cycle as a key":     `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ $y := dict $x 1 }}`,
		"a doubled list":       `{{ $x := list 1 }}{{ range until 40 }}{{ $x = list $x $x }}{{ end }}{{ $y := dict $x 1 }}`,
		"a cycle as a number":  `{{ $x := dict }}{{ $_ := set $x "x" $x }}{{ int $x }}`,
		"a regex with groups":  `{{ regexFindAll (repeat 900 "(x?)") (repeat 100000 "x") -1 }}`,
		"deep TOML":            `{{ fromToml (printf "a = %s" (repeat 5000000 "[")) }}`,
		"less deep TOML":       `{{ fromToml (printf "a = %s" (repeat 101 "[")) }}`,
		"inline tables":        `{{ fromToml (printf "a = %s" (repeat 20000 "{a=")) }}`,
		"texts that are alike": `{{ $x := list }}{{ range until 300 }}{{ $x = append $x (printf "%s%d" (repeat 100000 "x") .) }}{{ end }}{{ uniq $x }}`,
		"a deep list":          `{{ $x := until 10000 }}{{ range until 9000 }}{{ $x = list $x }}{{ end }}{{ toYaml $x }}`,
	} {
		t.Run(name, func(t *testing.T) {
			in := chartOf(shop)
			in.Files = append(in.Files, File{"templates/a.yaml", []byte("\n" + text)})
			p := refuses(t, in, limits.ChartSteps, "templates/a.yaml:2: ")
			if !p.Refused || !strings.Contains(p.Detail, "limit") && !strings.Contains(p.Detail, "more than") {
				t.Errorf("no limit is named: %s", p)
			}
		})
	}
}

// TestLarge checks that a large but harmless chart is rendered.
func TestLarge(t *testing.T) {
	for name, text := range map[string]string{
		"chunks that are larger than the list": `{{ chunk 1000000000 (list 1) }}`,
		"parts of a large file":                `{{ range splitList "\n---\n" (.Files.Get "crds.yaml") }}{{ (fromYaml .).kind }}{{ end }}`,
		"a large file in many writes":          `{{ range .Files.Lines "crds.yaml" }}{{ . }}{{ "\n" }}{{ end }}`,
		"replaced in a large file":             `{{ regexReplaceAll "a+" (.Files.Get "crds.yaml") "b" }}`,
	} {
		in := chartOf(shop)
		crd := "kind: X\nspec:\n" + strings.Repeat("  description: something that is said at length in a definition\n", 1)
		in.Files = append(in.Files, File{"templates/a.yaml", []byte(text)}, File{"crds.yaml", []byte(strings.Repeat(crd+strings.Repeat("# "+strings.Repeat("x", 60)+"\n", 1000)+"---\n", 16))})
		if _, err := Render(in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCyclic checks values that contain themselves. They are refused where Helm overflows its
// stack. Where encoding/json returns an error, nothing is printed, because Helm ignores the error.
func TestCyclic(t *testing.T) {
	const around = `{{ $d := dict "a" "" "b" (list 1 (dict "c" 2)) }}{{ $_ := set $d "s" (list $d) }}{{ $_ := set $d "t" $d }}`
	for call, want := range map[string]string{
		`toJson $d`: "", `toYaml $d`: "", `toPrettyJson $d`: "", `len (toJson (list $d $d))`: "0",
		`mustToJson $d`: "refused: encountered a cycle", `toRawJson $d`: "refused: encountered a cycle",
		`quote $d`: "refused: contains itself", `$d`: "refused: contains itself", `toString $d`: "refused: contains itself",
		`toYamlPretty $d`: "refused: contains itself", `deepCopy $d`: "refused: contains itself", `deepEqual $d $d`: "refused: contains itself",
	} {
		res, err := Render(chartOf(shop + "-- templates/a.yaml --\na: " + around + "{{ " + call + " }}\n"))
		if why, refused := strings.CutPrefix(want, "refused: "); refused {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, expected %q", call, err, why)
			}
		} else if err != nil || strings.TrimSpace(string(res.Manifests[0].Text)) != strings.TrimSpace("a: "+want) {
			t.Errorf("%s: %v, %+v, expected %q", call, err, res, want)
		}
	}
}

// TestSchemaElsewhere checks that a schema in another file leads to a note.
func TestSchemaElsewhere(t *testing.T) {
	for name, schema := range map[string]string{
		"network": `{"type": "string", "$ref": "http://localhost/x.json"}`,
		"machine": `{"type": "string", "properties": {"a": {"$ref": "/etc/passwd#/x"}}}`,
		"draft":   `{"type": "string", "$schema": "https://example.com/draft"}`,
	} {
		res, err := Render(chartOf(shop + "-- values.schema.json --\n" + schema + "\n-- templates/a.yaml --\na: b\n"))
		if err != nil || len(res.Notes) != 1 || res.Notes[0].File != schemaFile || !strings.Contains(res.Notes[0].Detail, "schemas are not read from other files or the network") {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
	}
	res, err := Render(chartOf(shop + "-- values.schema.json --\n{\"properties\": {\"a\": {\"$ref\": \"urn:x\"}}}\n-- values.yaml --\na: 1\n"))
	if err != nil || len(res.Notes) > 0 {
		t.Errorf("a name that leads nowhere: %v", err)
	}
}

// TestAbsent checks that a template fails if it may read an absent file, and only then.
func TestAbsent(t *testing.T) {
	for text, reads := range map[string]bool{
		`{{ .Files.Get "there" }}`:                      false,
		`{{ .Files.Get "LICENSE" }}`:                    true,
		`{{ .Files.GetBytes "LICENSE" }}`:               true,
		`{{ .Files.Lines "docs/x" }}`:                   true,
		`{{ .Files.Get "other" }}`:                      false,
		`{{ (.Files.Glob "dashboards/*").AsConfig }}`:   false,
		`{{ (.Files.Glob "*").AsConfig }}`:              true,
		`{{ (.Files.Glob "docs/*.md").AsSecrets }}`:     true,
		`{{ .Files.AsConfig }}`:                         true,
		`{{ range $k, $v := .Files }}{{ $k }}{{ end }}`: true,
		`{{ index .Files "LICENSE" }}`:                  true,
		`{{ toYaml .Files }}`:                           true,
		`{{ .Files }}`:                                  true,
		`{{ $f := .Files }}{{ $f.Get "there" }}`:        false,
		`{{ tpl "{{ .Files.Get \"LICENSE\" }}" . }}`:    true,
	} {
		in := chartOf(shop + "-- there --\nx\n-- .helmignore --\nREADME.md\n-- templates/a.yaml --\n\n" + text)
		in.Absent = []Note{{"LICENSE", "is a link"}, {"charts/db/docs", "is a link"}, {"README.md", "is a link"}}
		_, err := Render(in)
		var p *Problem
		if errors.As(err, &p); reads != (err != nil) || reads && (!p.Refused || p.File != "templates/a.yaml" || p.Line != 2) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, name := range []string{"Chart.yaml", "templates/a.yaml", "charts/db", "charts/db/templates/x", "charts/db/charts/x/values.yaml", "crds"} {
		in := chartOf(shop)
		in.Absent = []Note{{name, "is a link"}}
		if p := refuses(t, in, limits.ChartSteps, name+":1: is a link"); !p.Refused {
			t.Error(p)
		}
	}
}

// TestNesting checks the limits on nesting when templates are parsed and executed.
func TestNesting(t *testing.T) {
	for name, text := range map[string]string{
		"deep blocks":    strings.Repeat("{{ if 1 }}", 60_000) + strings.Repeat("{{ end }}", 60_000),
		"deep templates": `{{ define "x" }}` + strings.Repeat("{{ with 1 }}", 200) + `{{ template "x" }}` + strings.Repeat("{{ end }}", 200) + `{{ end }}{{ template "x" }}`,
		"actions":        strings.Repeat("{{ if 1 }}", 200_001),
	} {
		t.Run(name, func(t *testing.T) {
			in := chartOf(shop)
			in.Files = append(in.Files, File{"templates/a.yaml", []byte("\n" + text)})
			if p := refuses(t, in, limits.ChartSteps, "templates/a.yaml:2: "); !strings.Contains(p.Detail, "limited to") {
				t.Errorf("no limit is named: %s", p)
			}
		})
	}
}

// TestArchives checks that packed dependencies behave like unpacked ones, within limits.
func TestArchives(t *testing.T) {
	db := map[string]string{
		"db/Chart.yaml":        "apiVersion: v2\nname: db\nversion: 1.0.0\n",
		"db/templates/db.yaml": "db: {{ .Values.size }}\n",
		"db/values.yaml":       "size: 7\n",
	}
	in := chartOf(shop)
	in.Files = append(in.Files, File{"charts/db-1.0.0.tgz", packedFiles(t, db, nil)})
	res, err := Render(in)
	if err != nil {
		t.Fatal(err)
	}
	o := res.Manifests[0].Lines[0]
	if got := string(res.Manifests[0].Text) + originText(o); got != "db: 7\ncharts/db-1.0.0.tgz:templates/db.yaml:1 charts/db-1.0.0.tgz:values.yaml:1:7" {
		t.Error(got)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a link":       {packedFiles(t, db, &tar.Header{Name: "db/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "links in archives are not followed"},
		"outside":      {packedFiles(t, map[string]string{"db/../../x": "x"}, nil), "charts/db-1.0.0.tgz:1: "},
		"not packed":   {[]byte("no archive"), "charts/db-1.0.0.tgz:1: the archive cannot be read"},
		"a bomb":       {packedFiles(t, map[string]string{"db/big": strings.Repeat("x", 6<<20)}, nil), "charts/db-1.0.0.tgz:db/big:1: the archive has a file of 6291456 bytes; files are limited to 5242880"},
		"many files":   {packedFiles(t, manyFiles(), nil), "limited to 20000 files"},
		"a large bomb": {packedFiles(t, largeFiles(), nil), "the files of the chart are limited to 67108864 bytes"},
		"cut off":      {packedFiles(t, db, nil)[:60], "the archive cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			in := chartOf(shop)
			in.Files = append(in.Files, File{"charts/db-1.0.0.tgz", c.data})
			refuses(t, in, limits.ChartSteps, c.want)
		})
	}
}

func manyFiles() map[string]string {
	all := map[string]string{}
	for i := range limits.ChartFiles + 1 {
		all[fmt.Sprintf("db/%d", i)] = ""
	}
	return all
}

func largeFiles() map[string]string {
	all := map[string]string{}
	for i := range 20 {
		all[fmt.Sprintf("db/%d", i)] = strings.Repeat("x", 4<<20)
	}
	return all
}

func packedFiles(t *testing.T, files map[string]string, more *tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	to := tar.NewWriter(zipped)
	for _, name := range sortedKeys(toAny(files)) {
		if err := to.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if more != nil {
		if err := to.WriteHeader(more); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func toAny(files map[string]string) map[string]any {
	all := map[string]any{}
	for name, text := range files {
		all[name] = text
	}
	return all
}
