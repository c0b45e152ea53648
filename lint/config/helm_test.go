package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSetArguments writes values in the form of --set and --set-string.
func TestSetArguments(t *testing.T) {
	c, err := load(t, `renders: [{helm: a, set: {n: 3, o: 0o17, t: true, y: yes, z: , f: 1.5, s: "3", c: 'a,b\c', l: "{x}", 'd\.e/f': g}, set-string: {i: 010, b: false}}]`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"n=3", "o=15", "t=true", "y=true", "z=null", "f=1.5"}
	if diff := cmp.Diff(want, c.Renders[0].SetArgs); diff != "" {
		t.Error(diff)
	}
	want = []string{"s=3", `c=a\,b\\c`, `l=\{x}`, `d\.e/f=g`, "i=010", "b=false"}
	if diff := cmp.Diff(want, c.Renders[0].SetStringArgs); diff != "" {
		t.Error(diff)
	}
}

// TestExpandCharts checks the renders of charts, their values files, and the errors.
func TestExpandCharts(t *testing.T) {
	for _, test := range []struct{ text, want, wrong string }{
		{"{helm: charts/a}", "charts/a()", ""},
		{"{helm: elsewhere}", "elsewhere()", ""},
		{"{helm: 'charts/*'}", "charts/a() charts/b()", ""},
		{"{helm: charts/a, name: x, values: [own.yaml, env/prod.yaml]}", "x(charts/a/own.yaml env/prod.yaml)", ""},
		{"{helm: charts/a, each-values: 'env/{name}.yaml', values: [own.yaml]}", "charts/a=dev(charts/a/own.yaml env/dev.yaml) charts/a=prod(charts/a/own.yaml env/prod.yaml)", ""},
		{"{helm: 'charts/*', each-values: 'v-{name}.yaml'}", "charts/a=x(charts/a/v-x.yaml) charts/b=y(charts/b/v-y.yaml)", ""},
		{"{helm: charts/a, each-values: 'sites/{name}/values.yaml'}", "charts/a=one(sites/one/values.yaml)", ""},
		{"{helm: charts/a, values: [no.yaml]}", "", "1:37: renders[0].values[0]: there is no charts/a/no.yaml and no no.yaml: paths count from the chart, or else from the configuration"},
		{"{helm: charts/a, values: [env]}", "", "1:37: renders[0].values[0]: env is a directory, expected a file"},
		{"{helm: charts/a, values: [../../../x]}", "", "1:37: renders[0].values[0]: ../../../x lies outside of the directory of the configuration"},
		{"{helm: charts/a, values: [../../../x]}, {helm: 'no/*'}", "", "1:37: renders[0].values[0]: ../../../x lies outside of the directory of the configuration\n" +
			"1:51: renders[1]: no/* matches no chart that installs anything by itself: library charts and charts in charts/ of another one do not count"},
		{"{helm: charts/a, values: [link.yaml]}", "", "1:37: renders[0].values[0]: link.yaml is a symbolic link: name the file itself"},
		{"{helm: charts/a, each-values: 'links/{name}.yaml'}", "", "1:28: renders[0].each-values: links/a.yaml is a symbolic link: name the file itself"},
		{"{helm: charts/a, each-values: 'no/{name}'}", "", "1:28: renders[0].each-values: there is no file charts/a/no/{name} and no no/{name}: paths count from the chart, or else from the configuration"},
		{"{helm: charts/a, each-values: 'odd/{name}'}", "", `1:28: renders[0].each-values: "a[" cannot be a part of the name of a render: rename the file`},
		{"{helm: charts/a, each-values: '../../../{name}'}", "", "1:28: renders[0].each-values: ../../../{name} lies outside of the directory of the configuration"},
		{"{helm: charts/a, each-values: 'env/{name}.yaml'}, {kustomize: 'charts/a=dev'}", "charts/a=dev(env/dev.yaml) charts/a=prod(env/prod.yaml)",
			"1:61: renders[1]: charts/a=dev is the name of a render of renders[0] as well: remove one of the entries, or give one a name"},
	} {
		if _, err := load(t, "renders: ["+test.text+"]"); err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		chartTree(t)
		c, err := LoadFound(Name, "")
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		all, err := c.Expand(Tree{Charts: []string{"charts/b", "charts/a"}, Tracked: func(path string) bool { return filepath.Base(path) != "local.yaml" }})
		var got []string
		for _, x := range all {
			got = append(got, x.Name+"("+strings.Join(x.Values, " ")+")")
		}
		said := ""
		if err != nil {
			said = strings.ReplaceAll(err.Error(), Name+":", "")
		}
		if got := strings.Join(got, " "); got != test.want || said != test.wrong {
			t.Errorf("%s: %s, want %s\n%s\nwant\n%s", test.text, got, test.want, said, test.wrong)
		}
	}
}

// TestManyLooks checks that the search stops at its limit and that the error names the limit.
func TestManyLooks(t *testing.T) {
	for _, text := range []string{"{helm: charts/a, values: [own.yaml, own.yaml, own.yaml, own.yaml]}", "{helm: charts/a, each-values: 'env/{name}.yaml'}"} {
		if _, err := load(t, "renders: ["+text+"]"); err != nil {
			t.Fatal(err)
		}
		chartTree(t)
		c, err := Load(Name)
		if err != nil {
			t.Fatal(err)
		}
		looks := 3
		if all, err := c.Expand(Tree{looks: &looks}); err == nil || len(all) > 0 || !strings.HasSuffix(err.Error(), "take more than 200000 look-ups: name fewer charts") {
			t.Errorf("%s: %v, %v", text, all, err)
		}
	}
}

// chartTree writes the values files of two charts.
func chartTree(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"charts/a/own.yaml", "charts/a/v-x.yaml", "charts/b/v-y.yaml", "env/prod.yaml", "env/dev.yaml", "env/local.yaml", "env/.hidden.yaml",
		"env/sub.yaml/file", "sites/one/values.yaml", "sites/two/other.yaml", "odd/a[", "links/a.yaml",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if name == "links/a.yaml" {
			continue
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link.yaml": "env/prod.yaml", "links/a.yaml": "../env/prod.yaml"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
}

// TestHelmArguments checks that an argument that Helm cannot parse is an error with its line in the
// configuration.
func TestHelmArguments(t *testing.T) {
	for text, want := range map[string]string{
		"{helm: a, set: {'a[x': 1}}":                        `1:27: renders[0].set: "a[x" cannot be read: `,
		"{helm: a, set: {'a[-1]': 1}}":                      `1:27: renders[0].set: "a[-1]" cannot be read: `,
		"{helm: a, set: {'a[1000000000]': 1}}":              `1:27: renders[0].set: "a[1000000000]" cannot be read: `,
		"{helm: a, set-string: {'b': c, 'a[x': 1}}":         `1:42: renders[0].set-string: "a[x" cannot be read: `,
		"{helm: a, kube-version: 99999999999999999999.1.1}": `1:21: renders[0].kube-version: `,
		"{helm: a, api-versions: ['']}":                     `renders[0].api-versions`,
	} {
		_, err := load(t, "renders: ["+text+"]")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestSettingPlace checks the locations of the settings that render problems name.
func TestSettingPlace(t *testing.T) {
	c, err := load(t, "renders: [{kustomize: a}, {helm: b, values: [x, z], each-values: 'v-{name}',\n set: {a: 1, b: c},\n set-string: {d: 1}}]")
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{
		"values[0]": "1:46", "values[1]": "1:49", "values[2]": "1:53", "set[0]": "2:8", "set-string[0]": "2:14", "set-string[1]": "3:15",
		"set[1]": "", "set[-1]": "", "set": "", "": "", "x[0]": "", "values[": "",
	} {
		at, ok := c.SettingPlace(Chosen{Entry: &c.Renders[1]}, setting)
		got := ""
		if ok {
			got = fmt.Sprintf("%d:%d", at.Line, at.Column)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", setting, got, want)
		}
	}
	if _, ok := c.SettingPlace(Chosen{}, "values[0]"); ok {
		t.Error("a render that nothing asks for has settings")
	}
}
