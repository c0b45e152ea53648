package source

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type base struct {
	Kind  string `json:"kind"`
	Shown string `json:"shown"`
}

type Named struct {
	Inside string `json:"inside"`
}

type color string

type all struct {
	base   `json:",inline"`
	Named  `json:"named"`
	Shown  int                `json:"shown"` // hides the field of base
	Text   string             `json:"text,omitempty"`
	Color  color              `json:"color"`
	Flag   bool               `json:"flag"`
	Small  int8               `json:"small"`
	Whole  int64              `json:"whole"`
	Count  uint16             `json:"count"`
	Maybe  *int32             `json:"maybe"`
	Sub    *all               `json:"sub"`
	Labels map[string]string  `json:"labels"`
	Paint  map[color][]color  `json:"paint"`
	List   []int              `json:"list"`
	Subs   []*Named           `json:"subs"`
	Size   resource.Quantity  `json:"size"`
	Most   *resource.Quantity `json:"most"`
	Port   intstr.IntOrString `json:"port"`
	Hidden string             `json:"-"`
	Bare   string
}

// decoded decodes a value. It also returns the mismatches, one on each line.
func decoded(t *testing.T, d *Decoder, text string) (out all, found string) {
	t.Helper()
	docs, errs := documents([]byte(text), everything)
	if len(docs) != 1 || len(errs) > 0 {
		t.Fatalf("%s: %v", text, errs)
	}
	var lines []string
	for _, m := range d.Decode(docs[0].root, &out) {
		line := m.Path + ": want " + m.Want
		if m.Unknown {
			line = m.Path + ": unknown, " + m.Suggestion
		}
		if m.Placeholder {
			line += " (open)"
		}
		if m.Value == nil || m.Key == nil && !strings.HasSuffix(m.Path, "]") && m.Path != "" {
			t.Errorf("%s: key %v, value %v", m.Path, m.Key, m.Value)
		}
		lines = append(lines, line)
	}
	return out, strings.Join(lines, "; ")
}

// mismatches maps YAML values to the mismatches reported when they are decoded into type all.
var mismatches = map[string]string{
	"{}":                                   "",
	"null":                                 "",
	"[]":                                   ": want map",
	"word":                                 ": want map",
	"{text: a, color: red, flag: true}":    "",
	"text: 1":                              "text: want string",
	"text: yes":                            "text: want string",
	"text: [a]":                            "text: want string",
	"text: null":                           "",
	"text:":                                "",
	"flag: 'true'":                         "flag: want boolean",
	"flag: on":                             "",
	"flag: 1":                              "flag: want boolean",
	"small: 127":                           "",
	"small: 128":                           "small: want whole number",
	"small: '1'":                           "small: want whole number",
	"small: 1.0":                           "",
	"small: 1.5":                           "small: want whole number",
	"small: 0x1f":                          "",
	"whole: -9223372036854775808":          "",
	"whole: 9223372036854775808":           "whole: want whole number",
	"whole: 1e3":                           "",
	"whole: true":                          "whole: want whole number",
	"count: -1":                            "count: want whole number",
	"count: 65536":                         "count: want whole number",
	"maybe: x":                             "maybe: want whole number",
	"maybe: ~":                             "",
	"sub: {sub: {text: 1}}":                "sub.sub.text: want string",
	"sub: [a]":                             "sub: want map",
	"labels: {a: b, c: null, d: 1}":        "labels.d: want string",
	"labels: [a]":                          "labels: want map",
	"labels: {a.b/c: [x]}":                 "labels.a.b/c: want string",
	"paint: {red: [a, 1]}":                 "paint.red[1]: want string",
	"list: [1, a, 3, null]":                "list[1]: want whole number",
	"list: 1":                              "list: want list",
	"list: {a: 1}":                         "list: want list",
	"subs: [{inside: a}, {inside: 1}, a]":  "subs[1].inside: want string; subs[2]: want map",
	"size: 100m":                           "",
	"size: 1":                              "",
	"size: .5":                             "",
	"size: 1_0.5":                          "",
	"size: 1e3":                            "",
	"size: '1e3'":                          "",
	"size: 18446744073709551615":           "",
	"size: 5 GB":                           "size: want quantity",
	"size: true":                           "size: want quantity",
	"size: .inf":                           "size: want quantity",
	"size: [1]":                            "size: want quantity",
	"size: {a: 1}":                         "size: want quantity",
	"most: null":                           "",
	"most: abc":                            "most: want quantity",
	"port: 80":                             "",
	"port: 25%":                            "",
	"port: '80'":                           "",
	"port: 1e3":                            "",
	"port: 1.5":                            "port: want int or string",
	"port: true":                           "port: want int or string",
	"port: [80]":                           "port: want int or string",
	"text: ${NAME}":                        "",
	"whole: ${COUNT}":                      "whole: want whole number (open)",
	"whole: '{{ .Values.count }}'":         "whole: want whole number (open)",
	"size: $(SIZE)":                        "size: want quantity (open)",
	"list: ${LIST}":                        "list: want list (open)",
	"sub: ${SUB}":                          "sub: want map (open)",
	"Text: a":                              "Text: unknown, text",
	"txt: a":                               "txt: unknown, text",
	"labls: {a: b}":                        "labls: unknown, labels",
	"quite_different: 1":                   "quite_different: unknown, ",
	"Hidden: a":                            "Hidden: unknown, ",
	"Bare: a":                              "Bare: unknown, ",
	"sub: {subs: [{insid: a}]}":            "sub.subs[0].insid: unknown, inside",
	"inside: a":                            "inside: unknown, ",
	"named: {inside: a}":                   "",
	"{kind: a, shown: 1}":                  "",
	"shown: a":                             "shown: want whole number",
	"{a: &a {text: 1}, sub: *a, subs: []}": "a: unknown, ; sub.text: want string",
}

func TestDecodeMismatches(t *testing.T) {
	for text, want := range mismatches {
		if _, got := decoded(t, &Decoder{}, text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestDecodeValues(t *testing.T) {
	d := &Decoder{}
	out, found := decoded(t, d, `
kind: k
shown: 3
named: {inside: i}
color: red
flag: yes
maybe: 0x10
sub: {text: t}
labels: {a: b, c: , d: 1}
paint: {red: [a, b]}
list: [1, x, 3]
subs: [{inside: a}, null, {inside: c}]
size: 1.5
most: 2Gi
port: http
`)
	if found != "labels.d: want string; list[1]: want whole number" {
		t.Errorf("found %s", found)
	}
	if out.Kind != "k" || out.Shown != 3 || out.base.Shown != "" || out.Inside != "i" || out.Color != "red" || !out.Flag || *out.Maybe != 16 || out.Sub.Text != "t" {
		t.Errorf("got %+v", out)
	}
	if !reflect.DeepEqual(out.Labels, map[string]string{"a": "b", "c": ""}) || !reflect.DeepEqual(out.Paint, map[color][]color{"red": {"a", "b"}}) {
		t.Errorf("got %v, %v", out.Labels, out.Paint)
	}
	// An item that does not fit leaves a gap, so that the other items keep their index.
	if !reflect.DeepEqual(out.List, []int{1, 0, 3}) || len(out.Subs) != 3 || out.Subs[1] != nil || out.Subs[2].Inside != "c" {
		t.Errorf("got %v, %v", out.List, out.Subs)
	}
	if out.Size.String() != "1500m" || out.Most.String() != "2Gi" || out.Port.String() != "http" {
		t.Errorf("got %s, %s, %s", &out.Size, out.Most, &out.Port)
	}
}

// TestDecodeFullAndOpen checks types that declare more fields than are decoded, and types that
// accept any field.
func TestDecodeFullAndOpen(t *testing.T) {
	type some struct {
		Text string `json:"text"`
	}
	docs, _ := documents([]byte("{text: a, labels: {b: 1}, lables: {}, kind: x}"), everything)
	for _, row := range []struct {
		d    Decoder
		want int
	}{
		{Decoder{}, 3},
		{Decoder{Full: map[reflect.Type]reflect.Type{reflect.TypeFor[some](): reflect.TypeFor[all]()}}, 1},
		{Decoder{Open: map[reflect.Type]bool{reflect.TypeFor[some](): true}}, 0},
	} {
		var out some
		if found := row.d.Decode(docs[0].root, &out); len(found) != row.want || out.Text != "a" {
			t.Errorf("got %d mismatches, want %d: %+v", len(found), row.want, found)
		}
	}
	d := Decoder{}
	if names := strings.Join(d.Names(reflect.TypeFor[all]()), " "); names != "color count flag kind labels list maybe most named paint port shown size small sub subs text whole" {
		t.Errorf("names %s", names)
	}
	if d.Decode(nil, &some{}) != nil {
		t.Error("nothing does not fit")
	}
}
