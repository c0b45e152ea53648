package chart

import "testing"

// TestPlacesOfChoices checks that the output of an action is traced to a value only if nothing
// else in the action could print the same text.
func TestPlacesOfChoices(t *testing.T) {
	const (
		none = 0
		port = 1
		same = 2
	)
	for action, want := range map[string]int{
		`.Values.port`:                                         port,
		`.Values.port | quote`:                                 port,
		`.Values.port | default "1"`:                           port,
		`default "5432" .Values.port`:                          port,
		`default (include "p" .) .Values.port`:                 port,
		`default .Values.port .Values.empty`:                   port,
		`default .Values.port "5432"`:                          none,
		`default .Values.port (include "p" .)`:                 none,
		`"5432" | default .Values.port`:                        none,
		`coalesce .Values.empty .Values.port "5432"`:           port,
		`coalesce "5432" .Values.port`:                         none,
		`or (include "p" .) .Values.port`:                      none,
		`coalesce .Values.port .Values.same`:                   port,
		`ternary "5432" .Values.port true`:                     none,
		`ternary "5432" .Values.port .Values.use | quote`:      none,
		`.Values.use | ternary 5432 .Values.port`:              none,
		`ternary .Values.port "1" .Values.use`:                 port,
		`ternary (include "p" .) .Values.port .Values.use`:     none,
		`required "5432" .Values.same`:                         same,
		`printf "%v" .Values.port`:                             none,
		`or (.Capabilities.APIVersions.Has "v1") .Values.use`:  none,
		`(default "x" .Values.port) | int`:                     port,
		`coalesce (default "5432" .Values.empty) .Values.port`: none,
	} {
		res, err := Render(Input{Files: []File{
			{"Chart.yaml", []byte("apiVersion: v2\nname: shop\nversion: 1.0.0\n")},
			{"values.yaml", []byte("port: 5432\nsame: 5432\nuse: true\nempty: \"\"\n")},
			{"templates/a.yaml", []byte("{{ define \"p\" }}5432{{ end }}a: {{ " + action + " }}\n")},
		}})
		if err != nil {
			t.Errorf("%s: %v", action, err)
			continue
		}
		if got := res.Manifests[0].Lines[0].Values; got.Line != want {
			t.Errorf("%s: %q is traced to %+v, want line %d", action, res.Manifests[0].Text, got, want)
		}
	}
}
