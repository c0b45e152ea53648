package chart

import (
	"strings"
	"testing"
)

// TestUnknown checks which templates may use a value that is not known, and what they print.
func TestUnknown(t *testing.T) {
	const values = "secret: '" + UnknownValue + "'\nlist: [a, '" + UnknownValue + "']\nmap: {p: '" + UnknownValue + "', q: known}\nknown: x\nempty: ''\nflag: true\n"
	for text, want := range map[string]string{
		`{{ .Values.secret }}`:                                       "?",
		`{{ .Values.secret | quote }}`:                               `"?"`,
		`{{ printf "%s-%s" .Values.known .Values.secret }}`:          "x-?",
		`{{ .Values.secret | b64enc }}`:                              "?",
		`{{ .Values.secret | lower | trunc 3 | quote }}`:             `"?"`,
		`{{ toYaml .Values.map | sha256sum }}`:                       "?",
		`{{ toJson .Values.map }}`:                                   `{"p":"?","q":"known"}`,
		`{{ join "," .Values.list }}`:                                "a,?",
		`{{ default .Values.secret .Values.known }}`:                 "x",
		`{{ default .Values.secret .Values.empty }}`:                 "?",
		`{{ default "y" .Values.secret }}`:                           "?",
		`{{ ternary .Values.secret "b" .Values.flag }}`:              "?",
		`{{ (dict "a" .Values.secret).a }}`:                          "?",
		`{{ range .Values.list }}[{{ . }}]{{ end }}`:                 "[a][?]",
		`{{ range $k, $v := .Values.map }}{{ $k }}{{ end }}`:         "pq",
		`{{ with .Values.map }}{{ .p }}{{ .q }}{{ end }}`:            "?known",
		`{{ if .Values.map }}{{ len .Values.list }}{{ end }}`:        "2",
		`{{ if hasKey .Values.map "p" }}y{{ end }}`:                  "y",
		`{{ index .Values.map "p" }}`:                                "?",
		`{{ include "d" .Values.secret }}`:                           "<?>",
		`{{ tpl "{{ .Values.secret }}" . }}`:                         "?",
		`{{ and .Values.flag .Values.secret }}`:                      "?",
		`{{ if .Values.flag }}{{ else if .Values.secret }}{{ end }}`: "",
		`{{ if .Values.secret }}y{{ end }}`:                          "a condition depends",
		`{{ with .Values.secret }}y{{ end }}`:                        "a condition depends",
		`{{ if and .Values.secret .Values.flag }}y{{ end }}`:         "and depends",
		`{{ if or .Values.empty .Values.secret }}y{{ end }}`:         "a condition depends",
		`{{ if not .Values.secret }}y{{ end }}`:                      "not depends",
		`{{ if eq .Values.secret "a" }}y{{ end }}`:                   "eq depends",
		`{{ if eq "a" .Values.secret }}y{{ end }}`:                   "eq depends",
		`{{ if lt 3 (len .Values.secret) }}y{{ end }}`:               "len depends",
		`{{ index .Values.map .Values.secret }}`:                     "index depends",
		`{{ if contains "a" .Values.secret }}y{{ end }}`:             "contains depends",
		`{{ if has "b" .Values.list }}y{{ end }}`:                    "has depends",
		`{{ if empty .Values.secret }}y{{ end }}`:                    "empty depends",
		`{{ if kindIs "string" .Values.secret }}y{{ end }}`:          "kindIs depends",
		`{{ range splitList "," .Values.secret }}y{{ end }}`:         "splitList depends",
		`{{ range until (int .Values.secret) }}y{{ end }}`:           "int depends",
		`{{ len (uniq .Values.list) }}`:                              "uniq depends",
		`{{ if deepEqual .Values.map .Values.list }}{{ end }}`:       "deepEqual depends",
		`{{ .Capabilities.APIVersions.Has .Values.secret }}`:         "Has depends",
		`{{ range .Values.secret }}{{ end }}`:                        "can't iterate",
	} {
		in := Input{Files: []File{
			{"Chart.yaml", []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n")},
			{"templates/_d.tpl", []byte(`{{ define "d" }}<{{ . }}>{{ end }}`)}, {"templates/t.yaml", []byte(text)},
		}, Values: []File{{"v", []byte(values)}}, Unknown: []string{"secret"}}
		got := ""
		if r, err := Render(in); err != nil {
			got = err.Error()
		} else {
			got = strings.ReplaceAll(string(r.Manifests[0].Text), UnknownValue, "?")
		}
		if fails := strings.Contains(want, " "); got != want && (!fails || !strings.Contains(got, want)) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestUnknownConditions checks that no dependency depends on a value that is not known.
func TestUnknownConditions(t *testing.T) {
	for name, want := range map[string]bool{"a.enabled": true, "a.password": false, "tags.x": true, "a.tags.x": true, "b.a.enabled": true, "ba.enabled": false} {
		_, err := Render(Input{Files: []File{
			{"Chart.yaml", []byte("apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies:\n- {name: a, version: 1.0.0, condition: 'z.z, a.enabled'}\n")},
			{"charts/a/Chart.yaml", []byte("apiVersion: v2\nname: a\nversion: 1.0.0\n")},
		}, Unknown: []string{name}})
		if got := err != nil && strings.Contains(err.Error(), "depends on a value that is not known"); got != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
