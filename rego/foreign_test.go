package rego

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/facts"
)

// foreignHead declares a library whose input is not the facts.
const foreignHead = "# METADATA\n# schemas:\n#   - input: schema.any\n"

// template is a library in the first version of Rego. It has an unused import and an unused variable,
// reads another object from the inventory, and asks for a field that the facts do not have.
const template = foreignHead + `package template

import data.lib.exempt
import input.unused

violation[{"msg": msg}] {
	size := 3
	obj := input.review.object
	other := data.inventory.namespace[obj.metadata.namespace][_]["Service"][name]
	other.spec.selector == obj.spec.selector
	name != obj.metadata.name
	not exempt.is(name)
	msg := sprintf("%v as %v", [input.parameters.word, name])
}
`

const exempt = foreignHead + `package lib.exempt

is(name) {
	name == input.parameters.exempt
}
`

const calling = `report contains result.finding(rego.metadata.chain(), row, {"message": found.msg}) if {
	some row in input.objects
	some found in data.template.violation with input as {
		"review": {"object": row.manifest},
		"parameters": {"word": "same", "exempt": "gone"},
	}
}
`

// services returns facts about three services with the same selector.
func services() *facts.Facts {
	f := healthy(1)
	for i, name := range []string{"a", "b", "gone"} {
		f.Objects = append(f.Objects, facts.Object{
			ID: 100 + i, APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: name,
			Manifest: map[string]any{"kind": "Service", "metadata": map[string]any{"name": name, "namespace": "shop"},
				"spec": map[string]any{"selector": map[string]any{"app": "web"}}},
		})
	}
	return f
}

func TestForeign(t *testing.T) {
	files := map[string]string{"x.rego": head + calling, "template.rego": template, "lib/exempt.rego": exempt}
	e := loaded(t, Options{Dirs: []string{folder(t, files)}, Off: func(id string) bool { return id != "no-default-namespace" }})
	var got []string
	for _, j := range evaluated(t, e, services()) {
		got = append(got, j.Message)
	}
	if want := []string{"same as b", "same as a", "same as a", "same as b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if read := e.find("no-default-namespace").reads; read.all || !read.paths["objects"] || read.paths["workloads"] {
		t.Errorf("the rule reads %v", read)
	}
}

// TestForeignWithoutInventory checks a library that needs no other objects: the rule reads manifests
// alone.
func TestForeignWithoutInventory(t *testing.T) {
	library := foreignHead + "package template\n\nviolation[{\"msg\": input.review.object.metadata.name}] { true }\n"
	e := loaded(t, Options{Dirs: []string{folder(t, map[string]string{"x.rego": head + calling, "template.rego": library})}, Off: func(id string) bool { return id != "no-default-namespace" }})
	if got := evaluated(t, e, services()); len(got) != 3 || got[0].Message != "a" {
		t.Errorf("%v", got)
	}
	if read := e.find("no-default-namespace").reads; read.has("objects.kind") {
		t.Errorf("the rule reads %v", read)
	}
}

// TestForeignIsChecked checks what is still an error beside a foreign library.
func TestForeignIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"no schema":           {"template.rego", strings.TrimPrefix(template, foreignHead), "template.rego:6: `if` keyword is required before rule body"},
		"facts":               {"lib.rego", "package lib\n\nf(x) if x == input.review.object\n", `lib.rego:3: review does not exist here; a policy of another tool is a library with the METADATA schemas: - input: schema.any`},
		"unused import":       {"lib.rego", "package lib\n\nimport data.template\n\nx := 1\n", "lib.rego:3: import data.template unused"},
		"unused variable":     {"lib.rego", "package lib\n\nf(x) if {\n\ty := x\n\tcount(data.template.violation) > 0\n}\n", "lib.rego:4: assigned var y unused"},
		"inventory of others": {"lib.rego", "package lib\n\nx := data.inventory.cluster\n", "lib.rego:3: data.inventory.cluster is not defined by any rule or library"},
		"network":             {"lib.rego", foreignHead + "package lib\n\nx { http.send({}) }\n", "http.send"},
		"a rule":              {"y.rego", strings.Replace(strings.Replace(head, "no-default-namespace", "other", 1), "schema.facts", "schema.any", 1) + body, `METADATA has no schemas with the entry "- input: schema.facts"`},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"x.rego": head + calling, "template.rego": template, "lib/exempt.rego": exempt}
			files[c.file] = c.text
			_, err := Load(Options{Dirs: []string{folder(t, files)}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestForeignReads checks that a foreign library whose input is not replaced reads all facts, and
// that one whose input always is reads what it is given.
func TestForeignReads(t *testing.T) {
	library := foreignHead + "package lib\n\nall := input.workloads\n\nthrough := all\n"
	for name, c := range map[string]struct{ body, want string }{
		"replaced":           {someLoss + `count(data.lib.through) > 0 with input as {"workloads": [row.w]}`, "losses losses.id* losses.w*"},
		"not replaced":       {someLoss + `count(data.lib.through) > 0`, "all"},
		"replaced once":      {someLoss + "count(data.lib.all) > 0 with input as {}\ncount(data.lib.through) > 0", "all"},
		"a part is replaced": {someLoss + `count(data.lib.through) > 0 with input.workloads as []`, "all"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Load(Options{Dirs: []string{folder(t, map[string]string{"x.rego": ruleWith(c.body, ""), "lib.rego": library})}})
			if err != nil {
				t.Fatal(err)
			}
			if got := pathsOf(e.find("no-default-namespace").reads, c.want); got != c.want {
				t.Errorf("reads %s\n want %s", got, c.want)
			}
		})
	}
}
