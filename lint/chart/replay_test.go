package chart_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/charts"
	"github.com/schedlint/schedlint/lint/chart"
)

// TestReplay renders the charts in fixtures/oracle and compares the output with that of Helm.
func TestReplay(t *testing.T) {
	charts.Each(t, "../../fixtures/oracle/charts/*.txtar", func(t *testing.T, c *charts.Case, want *charts.Want) {
		res, err := chart.Render(replayed(c))
		if want.Failed {
			failsAt(t, err, want)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, m := range res.Manifests {
			got[m.Template] = string(m.Text)
		}
		if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want.Texts)); !slices.Equal(a, b) {
			t.Errorf("templates %q, want %q", a, b)
		}
		for name, text := range want.Texts {
			if got[name] != text {
				t.Errorf("%s:\n%s\nwant\n%s", name, got[name], text)
			}
		}
	})
}

func replayed(c *charts.Case) chart.Input {
	in := chart.Input{Set: c.Set, SetString: c.SetString, Name: c.Name, Namespace: c.Namespace, KubeVersion: c.KubeVersion, APIVersions: c.APIVersions}
	for _, f := range c.Files {
		in.Files = append(in.Files, chart.File(f))
	}
	for _, v := range c.Values {
		in.Values = append(in.Values, chart.File(v))
	}
	return in
}

// failsAt checks the position of a failure if Helm reports one.
func failsAt(t *testing.T, err error, want *charts.Want) {
	t.Helper()
	var p *chart.Problem
	if !errors.As(err, &p) {
		t.Fatalf("it renders, or fails without a place: %v; Helm says %s", err, want.Said)
	}
	if want.Template != "" && (!strings.HasSuffix(want.Template, "/"+p.File) || p.Line != want.Line) {
		t.Errorf("it fails in %s:%d, Helm in %s:%d", p.File, p.Line, want.Template, want.Line)
	}
}
