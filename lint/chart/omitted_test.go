package chart

import (
	"reflect"
	"testing"
)

// TestOmitted checks which values leave out a workload.
func TestOmitted(t *testing.T) {
	const values = `-- values.yaml --
web:
  enabled: false
job: {enabled: ""}
config: false
debug: true
empty: {}
-- templates/a.yaml --
`
	web := Omission{"templates/a.yaml", []Place{{"values.yaml", 2, 12}}}
	for name, c := range map[string]struct {
		template string
		want     []Omission
	}{
		"a workload":          {"{{ if .Values.web.enabled }}\nkind: Deployment\n{{ end }}", []Omission{web}},
		"quoted":              {"{{ if .Values.web.enabled }}\nkind: \"CronJob\"\n{{ end }}", []Omission{web}},
		"in one of two":       {"{{ if .Values.web.enabled }}a: {{ 1 }}\nkind: Pod\n{{ end }}", []Omission{web}},
		"twice":               {"{{ if .Values.web.enabled }}\nkind: Job\n{{ end }}---\n{{ if .Values.web.enabled }}\nkind: Pod\n{{ end }}", []Omission{web}},
		"else":                {"{{ if .Values.debug }}a: 1{{ else }}\nkind: Deployment\n{{ end }}", []Omission{{"templates/a.yaml", []Place{{"values.yaml", 5, 8}}}}},
		"two values":          {"{{ if and .Values.debug .Values.web.enabled }}\nkind: Deployment\n{{ end }}", []Omission{{"templates/a.yaml", []Place{{"values.yaml", 5, 8}, {"values.yaml", 2, 12}}}}},
		"one each":            {"{{ if .Values.web.enabled }}\nkind: Job\n{{ end }}---\n{{ if .Values.config }}\nkind: Pod\n{{ end }}", []Omission{web, {"templates/a.yaml", []Place{{"values.yaml", 4, 9}}}}},
		"no workload":         {"{{ if .Values.web.enabled }}\nkind: ConfigMap\n{{ end }}", nil},
		"a workload is kept":  {"{{ if .Values.debug }}\nkind: Deployment\n{{ end }}", nil},
		"without else":        {"{{ if .Values.debug }}a: 1{{ end }}", nil},
		"a value set nowhere": {"{{ if .Values.none }}\nkind: Deployment\n{{ end }}", nil},
		"a map":               {"{{ if .Values.empty }}\nkind: Deployment\n{{ end }}", nil},
		"in tpl":              {"{{ tpl \"{{ if .Values.web.enabled }}\\nkind: Deployment\\n{{ end }}\" . }}", nil},
	} {
		res, err := Render(chartOf(shop + values + c.template + "\n"))
		if err != nil {
			t.Fatal(name, err)
		}
		if !reflect.DeepEqual(res.Omitted, c.want) {
			t.Errorf("%s: %+v, want %+v", name, res.Omitted, c.want)
		}
	}
}
