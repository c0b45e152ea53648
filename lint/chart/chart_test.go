package chart

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// chartOf makes an input of files in the form of txtar: those named -f:NAME are values
// files of the release, all others files of the chart.
func chartOf(text string) Input {
	in := Input{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		if name, ok := strings.CutPrefix(f.Name, "-f:"); ok {
			in.Values = append(in.Values, Values{name, f.Data})
			continue
		}
		in.Files = append(in.Files, File{f.Name, f.Data})
	}
	return in
}

const shop = "-- Chart.yaml --\napiVersion: v2\nname: shop\nversion: 1.0.0\n"

func TestRender(t *testing.T) {
	for name, c := range map[string]struct{ chart, want string }{
		"values and release": {
			"-- values.yaml --\nreplicas: 2\n-- templates/a.yaml --\nname: {{ .Release.Name }}-{{ .Chart.Name }}\nreplicas: {{ .Values.replicas }}\n",
			"name: shop-shop\nreplicas: 2\n",
		},
		"a partial is included": {
			"-- templates/_a.tpl --\n{{- define \"x\" }}\na: {{ . }}{{ end }}\n-- templates/a.yaml --\nx:\n  {{- include \"x\" 1 | nindent 2 }}\n",
			"x:\n  \n  a: 1\n",
		},
		"nothing is printed for no value": {
			"-- templates/a.yaml --\na: {{ .Values.none }}.\nb: {{ tpl \"{{ .Values.none }}\" . }}.\n",
			"a: .\nb: .\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := Render(chartOf(shop + c.chart))
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Manifests) != 1 || string(res.Manifests[0].Text) != c.want {
				t.Errorf("%d manifests, the first %q, want %q", len(res.Manifests), res.Manifests[0].Text, c.want)
			}
		})
	}
}
