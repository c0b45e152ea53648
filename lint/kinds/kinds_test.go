package kinds

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// scalars converts scalars to text, which is enough to compare them.
func scalars(n *source.Node) any { return n.Value }

// TestRows evaluates each row for a custom resource in testdata, whose second document has the expected
// pods. SCHEDLINT_UPDATE=1 rewrites them.
func TestRows(t *testing.T) {
	t.Parallel()
	for id, row := range Builtin() {
		if row.Project == "" || row.Version == "" || len(row.Source) == 0 {
			t.Errorf("%s: it does not say what it was read from", id)
		}
		if len(row.Pods) == 0 {
			continue
		}
		name := filepath.Join("testdata", row.Group+"_"+row.Kind+".yaml")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		resource, want, _ := strings.Cut(string(text), "\n---\n")
		file := source.NewFile(name, name, []byte(resource))
		objects := file.ObjectsOf(file.Roots()[0])
		if len(objects) != 1 || objects[0].Group() != row.Group || objects[0].Kind != row.Kind {
			t.Errorf("%s: not one %s", name, row.Kind)
			continue
		}
		type pods struct {
			Name     string `json:"name,omitempty"`
			N        int    `json:"pods"`
			Known    bool   `json:"known"`
			Exact    bool   `json:"exactTolerations"`
			Template any    `json:"template"`
		}
		var got []pods
		for _, m := range row.Made(objects[0]) {
			got = append(got, pods{m.Name, m.N, m.Known, !m.OpenTolerations, m.Template.Decoded(scalars)})
		}
		made, err := json.MarshalIndent(got, "", "  ")
		if err != nil || len(got) == 0 {
			t.Errorf("%s: nothing is known (%v)", name, err)
			continue
		}
		if os.Getenv("SCHEDLINT_UPDATE") != "" {
			if err := os.WriteFile(name, []byte(resource+"\n---\n"+string(made)+"\n"), 0o644); err != nil {
				t.Error(err)
			}
			continue
		}
		if !bytes.Equal(bytes.TrimSpace([]byte(want)), made) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, made, want)
		}
	}
}

// TestOpen checks that nothing is said about objects in which something is open.
func TestOpen(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: shop.example/v1\nkind: Shop\nmetadata: {name: a, namespace: b, labels: {from.example/x: y}}\nspec: "
	row := &Row{Unless: map[string][]string{"spec.override": {"*"}, "spec.paused": {"true"}}, Pods: []Pods{
		{Name: "{.name}", Each: "spec.pools", Replicas: Number{Path: ".size"}, Fields: map[string]string{"affinity.podAntiAffinity": ".apart"},
			Labels: Labels{From: []string{".labels"}, Add: map[string]string{"x": "{metadata.labels[from.example/x]}", "none": "{spec.none}"}}},
	}}
	for _, test := range []struct{ spec, want string }{
		{"{pools: [{name: p, size: 2}]}", `p 2 true {"metadata":{"labels":{"x":"y"}},"spec":{}}`},
		{"{pools: [{name: p}, {name: q, size: 0}]}", `p 0 false {"metadata":{"labels":{"x":"y"}},"spec":{}} q 0 true {"metadata":{"labels":{"x":"y"}},"spec":{}}`},
		{"{pools: [{name: p, size: 1, labels: {x: z, team: c}, apart: {a: b}}]}", `p 1 true {"metadata":{"labels":{"team":"c"}},"spec":{"affinity":{"podAntiAffinity":{"a":"b"}}}}`},
		{"{pools: [{name: p, size: 1, labels: {x: '${X}'}}]}", `p 1 true {"metadata":{"labels":{}},"spec":{}}`},
		{"{pools: [{name: p, size: -1}]}", `p 0 false {"metadata":{"labels":{"x":"y"}},"spec":{}}`},
		{"{pools: [{name: p}], override: {}}", ""},
		{"{pools: [{name: p}], paused: true}", ""},
		{"{pools: [{name: p}], paused: '${P}'}", ""},
		{"{pools: [{size: 1}]}", ""},
		{"{pools: [{name: p}, {name: p}]}", ""},
		{"{pools: '${POOLS}'}", ""},
		{"{}", ""},
	} {
		file := source.NewFile("a.yaml", "a.yaml", []byte(head+test.spec))
		var got []string
		for _, m := range row.Made(file.ObjectsOf(file.Roots()[0])[0]) {
			template, _ := json.Marshal(m.Template.Decoded(scalars))
			n, _ := json.Marshal([]any{m.N, m.Known})
			got = append(got, m.Name+" "+strings.ReplaceAll(strings.Trim(string(n), "[]"), ",", " ")+" "+string(template))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.spec, text, test.want)
		}
	}
}
