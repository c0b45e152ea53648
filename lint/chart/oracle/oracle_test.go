package main

import (
	"bytes"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/charts"
	"github.com/schedlint/schedlint/fixtures/trials"
	ours "github.com/schedlint/schedlint/lint/chart"
)

func TestMain(m *testing.M) {
	log.SetOutput(bytes.NewBuffer(nil)) // Helm warns there
	os.Exit(m.Run())
}

// rare are features that few charts have: at most one of a hundred.
var rare = map[string]bool{
	"version mismatch": true, "{{ago": true, "{{bcrypt": true, "{{encryptAES": true, "{{genCA": true, "{{genPrivateKey": true, "{{genSelfSignedCert": true, "{{htpasswd": true, "{{now": true,
	"{{randAlpha": true, "{{randAlphaNum": true, "{{randAscii": true, "{{randBytes": true, "{{randInt": true, "{{randNumeric": true, "{{shuffle": true, "{{uuidv4": true,
}

// TestAgreement compares some hundred cases. Most of them render, some
// fail in a line that both sides tell, and each feature is in some that render.
func TestAgreement(t *testing.T) {
	cases := trials.AtLeast(t, 600, 100)
	all := run(cases, 20260101+uint64(trials.First(t)), false)
	for i, f := range all.failures {
		if i == 5 {
			t.Fatalf("and %d more", len(all.failures)-i)
		}
		small := shrink(f)
		t.Errorf("case %d\n%s", f.number, archived(small))
	}
	if all.rendered < cases*4/5 || all.placed < cases/25 || all.unstable > 0 {
		t.Errorf("too little is compared: %d charts, %d render, %d fail with a line, %d are unstable", cases, all.rendered, all.placed, all.unstable)
	}
	if !trials.Full(t) {
		return
	}
	known := charts.AllFeatures()
	if len(known) < 250 {
		t.Errorf("only %d features are known", len(known))
	}
	for _, f := range known {
		least := cases / 120
		if rare[f] {
			least = 1
		}
		if n := all.features[f]; n < least {
			t.Errorf("%d charts that render have %q, want %d or more", n, f, least)
		}
	}
}

// TestDifferencesAreSeen changes one side in ways that a comparison must not miss.
func TestDifferencesAreSeen(t *testing.T) {
	c := &charts.Case{Files: []charts.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: shop\nversion: 1.0.0\n")},
		{Name: "values.yaml", Data: []byte("a: 1\n")},
		{Name: "templates/a.yaml", Data: []byte("a: {{ .Values.a }}\nb: {{ randAlpha 3 }}\n")},
	}}
	if o := compare(c); len(o.differences) > 0 || !o.rendered {
		t.Fatalf("the same chart differs: %+v", o)
	}
	failing := "a: 1\n{{ .Values.no.where }}\n"
	for kind, change := range map[string]func(*charts.Case){
		"text":            func(c *charts.Case) { c.Files[1].Data = []byte("a: 1.5\n") },
		"templates":       func(c *charts.Case) { c.Files[2].Name = "templates/b.yaml" },
		"only we fail":    func(c *charts.Case) { c.Files[2].Data = []byte(failing) },
		"only Helm fails": func(c *charts.Case) { c.Files[2].Data = []byte(failing) },
		"place":           func(c *charts.Case) { c.Files[2].Data = []byte(failing) },
	} {
		helms, mine := c.Copy(), c.Copy()
		change(mine)
		switch kind {
		case "only Helm fails":
			helms, mine = mine, helms
		case "place":
			helms.Files[2].Data = []byte("\n" + failing)
		}
		res, err := ours.Render(input(mine))
		o := hold(helm(helms), res, err, func() answer { return helm(helms) })
		if len(o.differences) != 1 || o.differences[0].Kind != kind {
			t.Errorf("%s: %+v", kind, o.differences)
		}
	}
}

// TestFixtures holds the recorded answers against Helm, and our side against both.
func TestFixtures(t *testing.T) {
	paths, err := filepath.Glob("../../../fixtures/oracle/charts/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, c, recorded, err := charts.ReadArchive(data)
			if err != nil {
				t.Fatal(err)
			}
			w := want(c)
			if w.Texts == nil {
				w.Texts = map[string]string{}
			}
			if !reflect.DeepEqual(w, recorded) {
				t.Errorf("Helm gives %+v, the archive has %+v", w, recorded)
			}
			for _, d := range compare(c).differences {
				t.Errorf("%s: %s", d.Kind, d.Text)
			}
		})
	}
}
