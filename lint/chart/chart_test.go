package chart

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// chartOf returns an Input from a txtar archive. Files named -f:NAME are values files of the
// release, and all others are files of the chart.
func chartOf(text string) Input {
	in := Input{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		if name, ok := strings.CutPrefix(f.Name, "-f:"); ok {
			in.Values = append(in.Values, File{name, f.Data})
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
			"name: release-name-shop\nreplicas: 2\n",
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

// TestConstants checks that random and machine-dependent functions return the same results in
// every run, but different ones in each call.
func TestConstants(t *testing.T) {
	for _, call := range []string{
		"randAlphaNum 20", "randAlpha 20", "randNumeric 20", "randAscii 20", "randBytes 20", "uuidv4", "randInt 0 1000000000",
		`shuffle "abcdefghijklmnopqrstuvwxyz"`, `bcrypt "x"`, `htpasswd "me" "x"`, `encryptAES "key" "text"`, `genPrivateKey "rsa"`,
		`derivePassword 1 "long" "password" "user" "example.com"`, `(genCA "ca" 365).Cert`, `(genSelfSignedCert "a" nil nil 365).Key`,
		`(genSignedCert "a" nil nil 365 (genCA "ca" 365)).Cert`,
	} {
		chart := shop + "-- templates/a.yaml --\n{{ " + call + " }}\x00{{ " + call + " }}"
		res, err := Render(chartOf(chart))
		if err != nil {
			t.Errorf("%s: %v", call, err)
			continue
		}
		again, _ := Render(chartOf(chart))
		text := string(res.Manifests[0].Text)
		if first, second, _ := strings.Cut(text, "\x00"); first == "" || first == second {
			t.Errorf("%s gives %q twice", call, first)
		}
		if text != string(again.Manifests[0].Text) {
			t.Errorf("%s differs between runs", call)
		}
	}
}

// TestMachine checks that nothing about the machine gets into the output.
func TestMachine(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	for call, want := range map[string]string{
		`now | date "2006-01-02 15:04 MST"`:                                     "2025-01-01 00:00 UTC",
		`dateInZone "15:04 MST" 0 "Asia/Tokyo"`:                                 "00:00 UTC",
		`toDate "2006-01-02" "2024-02-03" | htmlDate`:                           "2024-02-03",
		`getHostByName "localhost"`:                                             "",
		`lookup "v1" "Pod" "default" "x"`:                                       "map[]",
		`keys (dict "b" 1 "a" 2) | join ","`:                                    "a,b",
		`decryptAES "k" (encryptAES "k" "text")`:                                "text",
		`.Files.Get "/etc/passwd"`:                                              "",
		`.Files.Get "../x"`:                                                     "",
		`values (dict "b" 1 "a" 2) | toJson`:                                    "[2,1]",
		`now.AddDate 0 0 -1 | ago`:                                              "24h0m0s",
		`ago 1735689599`:                                                        "1s",
		`ago (int64 1735689600)`:                                                "0s",
		`date "2006" "not a time"`:                                              "2025",
		`randInt 5 6`:                                                           "5",
		`(genCAWithKey "ca" 365 "key").Key`:                                     "key",
		`(genSelfSignedCertWithKey "a" nil nil 365 "key").Key`:                  "key",
		`(genSignedCertWithKey "a" nil nil 365 (genCA "ca" 365) "key").Key`:     "key",
		`(genCAWithKey "ca" 365 "key").Cert | trunc 27`:                         "-----BEGIN CERTIFICATE-----",
		`with buildCustomCert "Y2VydA==" "a2V5" }}{{ .Cert }} {{ .Key }}{{ end`: "cert key",
	} {
		res, err := Render(chartOf(shop + "-- templates/a.yaml --\n{{ " + call + " }}"))
		if err != nil || string(res.Manifests[0].Text) != want+"\n" && string(res.Manifests[0].Text) != want {
			t.Errorf("%s: %v, %v, want %q", call, res, err, want)
		}
	}
}

// TestChartFiles checks that templates do not see ignored files, and that files in crds/ are not
// executed as templates.
func TestChartFiles(t *testing.T) {
	res, err := Render(chartOf(shop + `-- .helmignore --
secret/
*.bak
-- secret/x --
x
-- a.bak --
x
-- a.txt --
one
two
-- crds/crd.yaml --
kind: {{ not a template }}
-- templates/.hidden.yaml --
{{ fail "hidden" }}
-- templates/a.yaml --
{{ range $name, $_ := .Files }}{{ $name }} {{ end }}
{{ .Files.Lines "a.txt" | len }}{{ (.Files.Glob "*.txt").AsConfig }}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(res.Manifests[0].Text); got != ".helmignore a.txt crds/crd.yaml \n2a.txt: |\n  one\n  two\n" {
		t.Errorf("%q", got)
	}
	if len(res.CRDs) != 1 || res.CRDs[0].Name != "crds/crd.yaml" {
		t.Errorf("%v", res.CRDs)
	}
}

// TestNoAddresses checks that templates cannot print memory addresses.
func TestNoAddresses(t *testing.T) {
	res, err := Render(chartOf(shop + "maintainers: [{name: Ann}]\n-- templates/a.yaml --\n" +
		"a: {{ .Chart.Maintainers }} {{ quote .Chart.Maintainers }}\nb: {{ (index .Chart.Maintainers 0).Name }}\nc: {{ toJson .Chart }}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := "a: [{Ann  }] \"[{Ann  }]\"\nb: Ann\n" +
		`c: {"name":"shop","version":"1.0.0","maintainers":[{"name":"Ann"}],"apiVersion":"v2","IsRoot":true}` + "\n"
	if got := string(res.Manifests[0].Text); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, verb := range []string{"%p", "%%%p", "%-20p", "%s%p"} {
		_, err := Render(chartOf(shop + "-- templates/a.yaml --\na: {{ printf \"" + verb + "\" .Values }}\n"))
		if err == nil || !strings.Contains(err.Error(), "prints an address") {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// TestTypes checks that types have the same names as in Helm, and that the chart's lists are also
// in .Chart.Metadata.
func TestTypes(t *testing.T) {
	res, err := Render(chartOf(shop + "maintainers: [{name: Ann}]\n-- templates/a.yaml --\n" +
		"{{ typeOf .Files }} {{ typeOf .Chart }} {{ typeOf .Chart.Maintainers }} {{ (index .Chart.Metadata.Maintainers 0).Name }}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Manifests[0].Text), "engine.files struct { chart.Metadata; IsRoot bool } []*chart.Maintainer Ann\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
