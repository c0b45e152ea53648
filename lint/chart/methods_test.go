package chart

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	text "text/template"

	"github.com/schedlint/schedlint/lint/limits"
)

const methodsChart = shop + `appVersion: 1.2.3
maintainers: [{name: me}]
-- a.txt --
one
two
-- b/c.txt --
three
-- templates/a.yaml --
-- values.yaml --
a: {b: {c: 1}}
`

// TestMethods compares the methods of Helm's types with text/template, which finds methods by
// reflection.
func TestMethods(t *testing.T) {
	for _, action := range []string{
		`.Values.AsMap`, `.Values.Table "a.b"`, `(.Values.Table "a").b.c`, `.Values.Table "x"`, `.Values.PathValue "a.b.c"`, `.Values.PathValue "a"`, `.Values.a.YAML`,
		`.Files.Get "a.txt"`, `.Files.Get "none"`, `.Files.GetBytes "a.txt"`, `.Files.Lines "a.txt"`, `(.Files.Glob "**.txt").AsConfig`, `(.Files.Glob "b/*").AsSecrets`, `.Files.AsConfig`, `.Files.Glob "["`, `.Files.Get`, `.Files.Get 1`, `.Files.None`, `index .Files "a.txt"`, `(index .Files "a.txt") | toString`,
		`.Capabilities.KubeVersion`, `.Capabilities.KubeVersion.Version`, `.Capabilities.KubeVersion.Major`, `.Capabilities.KubeVersion.GitVersion`, `.Capabilities.KubeVersion.String`, `.Capabilities.KubeVersion.None`, `.Capabilities.HelmVersion.Version`, `.Capabilities.HelmVersion`,
		`.Capabilities.APIVersions.Has "v1"`, `.Capabilities.APIVersions.Has "none"`, `.Capabilities.APIVersions | len`, `.Capabilities.None`,
		`.Chart.Name`, `.Chart.AppVersion`, `.Chart.IsRoot`, `.Chart.Version`, `.Chart.None`, `(index .Chart.Maintainers 0).Name`, `.Chart.Annotations.x`, `.Chart.Type`,
		`now.Year`, `now.Month`, `now.Month.String`, `now.Unix`, `now.Format "2006-01-02"`, `now.UTC`, `(now.AddDate 0 1 1).Weekday`, `now.Sub now`, `(now.Sub (now.AddDate 1 0 0)).Hours`, `((now.Sub now).Round 1).String`, `now.Local`, `now.Location`, `now.None`, `now.IsZero`, `now.YearDay`, `now.After now`,
		`(semver "1.2.3-a+b").Major`, `(semver "1.2.3-a+b").Minor`, `(semver "1.2.3-a+b").Patch`, `(semver "v1.2.3-a+b").Prerelease`, `(semver "v1.2.3-a+b").Metadata`, `(semver "v1.2.3-a+b").Original`, `(semver "v1.2.3-a+b").String`, `semver "1.2"`,
		`(semver "1.2.3").IncMajor`, `(semver "1.2.3").IncPatch.Minor`, `(semver "1.2.3").IncPatch.Original`, `(semver "1.2.3").Compare (semver "1.2.4")`, `(semver "1.2.3").LessThan (semver "1.2.4")`, `(semver "1.2.3").GreaterThan (semver "1.2.4")`, `(semver "1.2.3").Equal (semver "1.2.3")`, `(semver "1.2.3").SetMetadata "x"`, `(semver "1.2.3").SetMetadata "?"`, `(semver "1.2.3").None`,
		`(genCA "a" 1).Cert | len`, `(genCA "a" 1).None`, `.Template.Name`, `.Release.Name`, `.Subcharts`, `now.Date`, `now.Zone`,
	} {
		source := "{{ " + action + " }}"
		res, err := Render(withTemplate(source))
		want, wrong := byReflection(t, source)
		switch {
		case (err == nil) != (wrong == nil):
			t.Errorf("%s: %v, want %v", action, err, wrong)
		case err == nil && string(res.Manifests[0].Text) != want:
			t.Errorf("%s: %q, want %q", action, res.Manifests[0].Text, want)
		}
	}
}

// TestValuesYAML checks that .Values can print itself as YAML.
func TestValuesYAML(t *testing.T) {
	res, err := Render(withTemplate("{{ .Values.YAML }}"))
	if err != nil || string(res.Manifests[0].Text) != "a:\n  b:\n    c: 1\n" {
		t.Errorf("%v, %v", res, err)
	}
}

func withTemplate(source string) Input {
	in := chartOf(methodsChart)
	for i := range in.Files {
		if in.Files[i].Name == "templates/a.yaml" {
			in.Files[i].Data = []byte(source)
		}
	}
	return in
}

// engineOf returns an engine that has not parsed its templates yet.
func engineOf(t *testing.T, in Input) *engine {
	t.Helper()
	l := &loader{in: in, names: map[*byte]string{}, budget: budget{limits.Counter{Most: limits.ChartSteps}}}
	c, err := l.load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.release(c)
	if err != nil {
		t.Fatal(err)
	}
	return newEngine(l, c, r)
}

func byReflection(t *testing.T, source string) (string, error) {
	e := engineOf(t, withTemplate(source))
	s := e.templates["shop/templates/a.yaml"]
	e.constants.template, e.constants.call = s.name, 0
	s.dot["Template"] = map[string]any{"Name": s.name, "BasePath": s.basePath}
	var out strings.Builder
	err := text.Must(text.New("a").Option("missingkey=zero").Funcs(e.functions()).Parse(source)).Execute(&out, s.dot)
	return string(withoutNoValue([]byte(out.String()))), err
}

// missing lists methods that are left out because they are useless in templates or depend on the
// machine.
var missing = strings.Fields(`Encode Copy Scan Value UnmarshalJSON UnmarshalText MarshalJSON MarshalText MarshalBinary UnmarshalBinary
	AppendText AppendBinary GobEncode GobDecode In ZoneBounds Clock Date ISOWeek Zone AppendFormat String Error`)

// TestAllMethods checks that the types that templates see have all other methods.
func TestAllMethods(t *testing.T) {
	all := engineOf(t, chartOf(methodsChart)).methods()
	for of, table := range all {
		if strings.HasSuffix(of.PkgPath(), "lint/chart") && of != reflect.TypeFor[files]() {
			t.Errorf("%s is unknown here", of)
		}
		for i := range of.NumMethod() {
			name := of.Method(i).Name
			value := of.Kind() == reflect.Pointer && all[of.Elem()][name] != nil
			if table[name] == nil && !value && !slices.Contains(missing, name) {
				t.Errorf("%s has no %s", of, name)
			}
		}
	}
}
