package chart

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestMissingDependencies checks that dependencies that are not in charts/ come from elsewhere, and
// that Helm's rules for aliases, conditions and tags apply to them.
func TestMissingDependencies(t *testing.T) {
	packed := func(name, version string) *File {
		return &File{Name: "charts/" + name + "-" + version + ".tgz", Data: packedFiles(t, map[string]string{
			name + "/Chart.yaml":       fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
			name + "/values.yaml":      "port: 80\n",
			name + "/templates/a.yaml": "kind: " + version + "\nmetadata: {name: {{ .Chart.Name }}}\nport: {{ .Values.port }}\n",
		}, nil)}
	}
	const listed = `dependencies:
- {name: cache, version: ^1.0.0, repository: "https://charts.example.com/"}
- {name: cache, version: ^2.0.0, repository: "https://charts.example.com/", alias: two}
- {name: queue, version: 3.x, repository: "oci://example.com/charts", condition: queue.enabled}
- {name: third, version: 1.0.0, repository: "https://charts.example.com/", tags: [more]}
`
	const files = "-- Chart.lock --\ndependencies:\n- {name: cache, version: 1.2.0, repository: \"https://charts.example.com/\"}\n" +
		"-- values.yaml --\nqueue: {enabled: false}\ntags: {more: false}\ncache:\n  port: 6379\n"
	in := chartOf(shop + listed + files)
	var asked []string
	in.Dependency = func(repository, name string, versions ...string) (*File, error) {
		asked = append(asked, strings.Join(append([]string{repository, name}, versions...), " "))
		return packed(name, map[string]string{"^1.0.0": "1.2.0", "^2.0.0": "2.0.1", "3.x": "3.1.0", "1.0.0": "1.0.0"}[versions[1]]), nil
	}
	res, err := Render(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://charts.example.com/ cache 1.2.0 ^1.0.0", "https://charts.example.com/ cache  ^2.0.0", "oci://example.com/charts queue  3.x", "https://charts.example.com/ third  1.0.0"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
	var got []string
	for _, m := range res.Manifests {
		got = append(got, m.Template+" "+strings.Join(strings.Fields(string(m.Text)), " "))
		for i, line := range m.Lines {
			if i == 2 && strings.Contains(m.Template, "/cache/") && (line.Values.File != valuesFile || line.Values.Line != 4) {
				t.Errorf("the port is set at %+v", line.Values)
			}
			if !strings.HasPrefix(line.Template, "charts/cache-") {
				t.Errorf("a line is from %s", line.Template)
			}
		}
	}
	if text := strings.Join(got, "\n"); text != "shop/charts/cache/templates/a.yaml kind: 1.2.0 metadata: {name: cache} port: 6379\nshop/charts/two/templates/a.yaml kind: 2.0.1 metadata: {name: two} port: 80" {
		t.Error(text)
	}

	for want, dependency := range map[string]func(string, string, ...string) (*File, error){
		"Chart.yaml:5: dependency cache ^1.0.0 is not in charts/: run schedlint vendor": nil,
		"Chart.yaml:7: dependency queue 3.x is not in charts/: run schedlint vendor": func(_, name string, _ ...string) (*File, error) {
			if name == "queue" {
				return nil, nil
			}
			return packed(name, "1.2.0"), nil
		},
		"Chart.yaml:5: dependency cache: it is a directory": func(string, string, ...string) (*File, error) { return nil, errors.New("it is a directory") },
		"Chart.yaml:5: dependency cache ^1.0.0 is not":      func(string, string, ...string) (*File, error) { return &File{Name: "charts/../x.tgz"}, nil },
		"Chart.yaml:6: dependency cache ^2.0.0: charts/cache-1.2.0.tgz is another chart or version": func(_, name string, _ ...string) (*File, error) {
			return packed(name, "1.2.0"), nil
		},
		"Chart.yaml:5: dependency cache ^1.0.0: charts/other-1.2.0.tgz is another chart or version": func(string, string, ...string) (*File, error) {
			return packed("other", "1.2.0"), nil
		},
		"charts/x.tgz:1: the archive cannot be read": func(string, string, ...string) (*File, error) {
			return &File{Name: "charts/x.tgz", Data: []byte("x")}, nil
		},
	} {
		in.Dependency = dependency
		if _, err := Render(in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
