package pointers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// TestHelmfile checks the charts and values of the releases in a helmfile, or why they are unknown.
func TestHelmfile(t *testing.T) {
	tree := fakeTree{"d/charts/a/Chart.yaml": "", "d/env.yaml": "a: {enabled: false}\nb: {enabled: true}\n"}
	const head = "repositories: [{name: r, url: https://h/charts/}, {name: o, url: reg/x, oci: true}]\nenvironments: {default: {values: [env.yaml, {c: {enabled: true}, a: {}}]}}\nvalues: [{a: {enabled: true}, d: {enabled: true}}]\n"
	for text, want := range map[string][]string{
		"releases: [{name: a, chart: ./charts/a, values: [v.yaml, ../w.yaml, {x: 1}], set: [{name: k, value: 2}]}]":                   {"4 a  d/charts/a [$helmfile/d/v.yaml $helmfile/w.yaml] \"x\": 1 k=2"},
		"releases: [{name: a, chart: charts/a, namespace: web, setString: [{name: k, value: 'true'}]}]":                               {"4 a web d/charts/a [] k=true"},
		"namespace: m\nreleases: [{name: a, chart: charts/a, namespace: n}]":                                                          {"5 a m d/charts/a []"},
		"releases: [{name: a, chart: r/redis, version: 1.2.3}, {name: b, chart: o/p/q}, {name: c, chart: 'oci://h/x', version: '1'}]": {"4 a  https://h/charts/redis 1.2.3 []", "4 b  reg/x/p/q  []", "4 c  oci://h/x 1 []"},
		"releases: [{name: a, chart: ./gone}, {name: b, chart: none/x}, {name: c, chart: 'git::https://u:p@h/x'}, {name: d, chart: ../../x}]": {
			"4 a path that does not exist: d/gone/Chart.yaml", "4 b Helm chart: none/x, which is in no repository of the helmfile", "4 c Helm chart: git::https://h/x", "4 d path outside of the repository: ../../x",
		},
		"releases: [{name: a, chart: charts/a, installed: false}, {name: b, chart: charts/a, condition: a.enabled}, {name: c, chart: charts/a, condition: b.enabled}, {name: d, chart: charts/a, condition: c.enabled}, {name: e, chart: charts/a, condition: x.enabled}]": {
			"4 a  d/charts/a [] suspended", "4 b  d/charts/a [] suspended", "4 c  d/charts/a []", "4 d  d/charts/a []", "4 e values that are not known: condition x.enabled",
		},
		"releases: [{name: a, chart: charts/a, values: [{x: 1}, v.yaml]}]":       {"4 a values that are not known: values after values that are written in the helmfile"},
		"releases: [{name: a, chart: charts/a, values: [v.yaml.gotmpl]}]":        {"4 a template too complex to expand: values file v.yaml.gotmpl"},
		"releases: [{name: a, chart: charts/a, values: ['https://u:p@h/v']}]":    {"4 a values that are not known: values file https://h/v"},
		"releases: [{name: a, chart: charts/a, values: [{x: 'ref+vault://y'}]}]": {"4 a  d/charts/a [] \"x\": \"ref+vault://y\" has a reference to a secret"},
		"releases: [{name: a, chart: charts/a, set: [{name: k, file: z}]}]":      {"4 a values that are not known: set k"},
		"releases: [{name: a, chart: charts/a, secrets: [s.yaml]}]":              {"4 a template too complex to expand: secrets of a helmfile"},
		"bases: [b.yaml]\nreleases: [{name: a, chart: charts/a}]":                {"5 a template too complex to expand: bases of the helmfile"},
		"releases: [{name: a, chart: 'charts/{{ .Values.x }}'}]":                 {"1 helmfile.yaml template too complex to expand: a helmfile with templates"},
		"releases: [~, a]": nil,
		"helmfiles: [x]\n": nil,
	} {
		r := &Reader{Repositories: NewRepositories(nil, nil, nil, nil), Tree: tree, Base: "top"}
		var got []string
		for _, o := range NewHelmfile(source.NewFile("top/d/helmfile.yaml", "top/d/helmfile.yaml", []byte(head+text+"\n"))) {
			for _, p := range r.Read(o) {
				line := fmt.Sprintf("%d %s", p.Line, p.Name)
				switch {
				case p.Why.Some():
					line += " " + p.Why.String()
				case p.Sources[0].Why.Some():
					line += " " + p.Sources[0].Why.String()
				default:
					s := &p.Sources[0]
					at := s.Path
					if s.Chart.Remote {
						at = s.Address() + " " + s.Chart.Version
					}
					line += fmt.Sprintf(" %s %s %v", p.Namespace, at, s.Chart.Files)
					if v := s.Chart.Values; v != nil {
						line += " " + string(v.Bytes[:len(v.Bytes)-1])
						if v.Unknown != "" {
							line += " has " + v.Unknown
						}
					}
					for _, one := range s.Chart.Parameters {
						line += " " + one.Name + "=" + one.Value
					}
				}
				if p.Suspended {
					line += " suspended"
				}
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n%q\nwant\n%q", text, got, want)
		}
	}
}

// TestIsHelmfile checks which files helmfile reads by default.
func TestIsHelmfile(t *testing.T) {
	for name, want := range map[string]bool{
		"helmfile.yaml": true, "a/helmfile.yaml.gotmpl": true, "a/helmfile.d/x.yaml": true, "helmfile.d/x.yml.gotmpl": true,
		"helmfile.d/x.json": false, "a/x.yaml": false, "helmfile.lock": false, "my-helmfile.yaml": false, "helmfile.d/a/x.yaml": false,
	} {
		if IsHelmfile(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
