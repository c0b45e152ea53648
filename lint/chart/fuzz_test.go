package chart

import (
	"errors"
	"reflect"
	"testing"
)

// FuzzRender checks that any chart yields valid origins or a problem with a position, and the same
// result twice.
func FuzzRender(f *testing.F) {
	for _, seed := range [][3]string{
		{"a: {{ .Values.a }}", `{{ define "x" }}b: {{ . }}{{ end }}`, "a: 1"},
		{"{{ include \"x\" .Values.a | nindent 2 }}\n{{ tpl .Values.b . }}", `{{ define "x" }}{{ toYaml . }}{{ end }}`, "a: {b: [1, {c: d}]}\nb: 'x: {{ .Release.Name }}'"},
		{"{{ range $k, $v := .Values }}{{ $k }}: {{ $v | quote }}\n{{ end }}", "", "a: &a x\nb: *a\nc: |\n  x\n  y"},
		{"{{- with .Values.a }}\n{{ printf \"%v-%5d\" . 1 | trim | trunc 3 }}{{ end -}}", "", "a: {<<: {b: 1}}"},
		{"{{ template \"x\" . }}{{ .Files.Get \"values.yaml\" }}{{ fail \"x\" }}", `{{ define "x" }}{{ genCA "a" 1 }}{{ end }}`, ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, template, helper, values string) {
		in := chartOf(shop)
		in.Files = append(in.Files, File{"templates/a.yaml", []byte(template)}, File{"templates/_x.tpl", []byte(helper)})
		in.Values = []File{{"values/prod.yaml", []byte(values)}}
		res, err := render(in, 100_000)
		again, twice := render(in, 100_000)
		if !reflect.DeepEqual(res, again) || !reflect.DeepEqual(err, twice) {
			t.Fatalf("%v, then %v", err, twice)
		}
		var p *Problem
		if err != nil && (!errors.As(err, &p) || p.File == "" || p.Line < 1) {
			t.Fatalf("no place: %#v", err)
		}
		if err == nil {
			checkLines(t, in, res)
		}
	})
}

// checkLines checks that every origin and every position refers to an existing line.
func checkLines(t *testing.T, in Input, res *Result) {
	lines := map[string]int{}
	for _, f := range in.Files {
		lines[f.Name] = len(newWritten("", string(f.Data)).starts)
	}
	for _, f := range in.Values {
		lines[f.Name] = len(newWritten("", string(f.Data)).starts)
	}
	for _, m := range res.Manifests {
		for i, o := range m.Lines {
			if o.Line < 1 || o.Line > lines[o.Template] || o.Values.Line > lines[o.Values.File] {
				t.Fatalf("line %d comes from %+v", i+1, o)
			}
		}
	}
}
