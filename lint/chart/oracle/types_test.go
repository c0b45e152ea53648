package main

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/charts"
)

// TestObjectTypes: templates see the same types as with Helm, and the same members.
func TestObjectTypes(t *testing.T) {
	for _, action := range []string{
		`typeOf .Chart`, `typeOf .Chart.Metadata`, `typeOf .Chart.Maintainers`, `typeOf .Chart.Metadata.Maintainers`, `typeOf .Chart.Dependencies`, `typeOf (index .Chart.Maintainers 0)`, `typeOf .Chart.Annotations`,
		`typeOf .Files`, `typeOf (.Files.Glob "*")`, `typeOf (.Files.Get "x")`, `typeOf .Values`, `typeOf .Values.a`, `typeOf .Release`, `typeOf .Capabilities`, `typeOf .Capabilities.KubeVersion`, `typeOf .Capabilities.APIVersions`, `typeOf .Template`, `typeOf .Subcharts`, `typeOf $`, `typeOf nil`,
		`typeIs "engine.files" .Files`, `typeIs "chart.files" .Files`, `typeIsLike "chart.Metadata" .Chart.Metadata`, `typeIsLike "chart.Maintainer" (index .Chart.Maintainers 0)`, `kindOf .Chart`, `kindOf .Files`, `kindOf .Chart.Metadata`, `kindIs "map" .Files`,
		`toYaml .Chart.Metadata`, `toJson .Chart`, `(index .Chart.Metadata.Maintainers 0).Name`, `.Chart.Metadata.Name`, `.Chart.Metadata.Type`, `len .Chart.Metadata.Dependencies`, `.Chart.Metadata.None`,
	} {
		c := &charts.Case{Files: []charts.File{
			{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: shop\nversion: 1.0.0\nmaintainers: [{name: Ann, email: a@example.com}]\nkeywords: [a]\nannotations: {b: c}\n")},
			{Name: "values.yaml", Data: []byte("a: {b: 1}\n")},
			{Name: "a.txt", Data: []byte("a")},
			{Name: "templates/a.yaml", Data: []byte("a: {{ " + action + " }}\n")},
		}}
		if o := compare(c); len(o.differences) > 0 || o.rendered == strings.HasSuffix(action, ".None") {
			t.Errorf("%s: %+v", action, o)
		}
	}
	c := &charts.Case{Files: []charts.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: shop\nversion: 1.0.0\nkubeVersion: '>=1.0'\n")},
		{Name: "templates/a.yaml", Data: []byte("a: {{ .Chart }} {{ .Chart.Metadata }}\n")},
	}}
	if o := compare(c); len(o.differences) > 0 || !o.rendered {
		t.Errorf("%+v", o)
	}
}
