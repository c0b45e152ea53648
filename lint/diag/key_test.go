package diag

import (
	"slices"
	"strings"
	"testing"
)

// found returns a finding with all fields that a key may depend on.
func found() Diagnostic {
	return Diagnostic{
		Rule: "r", Level: LevelError, Message: "m", Details: []string{"d"}, Cluster: "c", Branch: "b", Render: "overlay",
		Location: Span{File: "a.yaml", Line: 3, Column: 5, EndLine: 3, EndColumn: 9},
		Object:   Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"},
		Field:    "spec.template.spec.containers[app].image",
	}
}

// TestKeyOutlives checks that the key stays the same when a finding moves or its numbers change.
func TestKeyOutlives(t *testing.T) {
	before := found()
	for name, change := range map[string]func(d *Diagnostic){
		"another file":              func(d *Diagnostic) { d.Location.File = "moved/a.yaml" },
		"a line further down":       func(d *Diagnostic) { d.Location.Line++; d.Location.EndLine++ },
		"other numbers":             func(d *Diagnostic) { d.Message, d.Details = "n", nil },
		"another level":             func(d *Diagnostic) { d.Level = LevelNote },
		"a newer version":           func(d *Diagnostic) { d.Object.APIVersion = "apps/v2" },
		"another field of the item": func(d *Diagnostic) { d.Field = "spec.template.spec.containers[app].name" },
		"an assumed release name": func(d *Diagnostic) {
			d.Assumed, d.Object.Name, d.Field = "shop-1", "shop-1-web", "spec.template.spec.containers[shop-1-app].image"
		},
		"the object in a source": func(d *Diagnostic) { d.Written = Object{Kind: "Deployment", Name: "base"} },
	} {
		after := found()
		change(&after)
		if after.Key() != before.Key() {
			t.Errorf("%s: %+v, before %+v", name, after.Key(), before.Key())
		}
	}
}

// TestKeyTellsApart checks that findings about different subjects have different keys and different
// parts.
func TestKeyTellsApart(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(d *Diagnostic){
		"the same":          func(*Diagnostic) {},
		"another rule":      func(d *Diagnostic) { d.Rule = "s" },
		"another cluster":   func(d *Diagnostic) { d.Cluster = "d" },
		"another branch":    func(d *Diagnostic) { d.Branch = "a" },
		"no branch":         func(d *Diagnostic) { d.Branch = "" },
		"another render":    func(d *Diagnostic) { d.Render = "other" },
		"no render":         func(d *Diagnostic) { d.Render = "" },
		"a render's name":   func(d *Diagnostic) { d.Branch, d.Render = "overlay", "" },
		"another group":     func(d *Diagnostic) { d.Object.APIVersion = "batch/v1" },
		"the core group":    func(d *Diagnostic) { d.Object.APIVersion = "v1" },
		"another kind":      func(d *Diagnostic) { d.Object.Kind = "StatefulSet" },
		"another namespace": func(d *Diagnostic) { d.Object.Namespace = "bank" },
		"another name":      func(d *Diagnostic) { d.Object.Name = "api" },
		"another container": func(d *Diagnostic) { d.Field = "spec.template.spec.containers[log].image" },
		"no list":           func(d *Diagnostic) { d.Field = "spec.replicas" },
		"no object":         func(d *Diagnostic) { d.Object = Object{} },
		"another file":      func(d *Diagnostic) { d.Object, d.Location.File = Object{}, "b.yaml" },
	} {
		d := found()
		change(&d)
		parts := strings.Join(d.Key().Parts(), "\x00")
		if before := seen[parts]; before != "" {
			t.Errorf("%s and %s have the same key %+v", name, before, d.Key())
		}
		seen[parts] = name
	}
}

func TestKey(t *testing.T) {
	d := found()
	want := Key{Cluster: "c", Branch: "b", Render: "overlay", Rule: "r", Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web", Field: "spec.template.spec.containers[app]"}
	if got := d.Key(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	parts := []string{"c", "r", "apps", "Deployment", "shop", "web", "spec.template.spec.containers[app]", "", "b", "render", "overlay"}
	if got := want.Parts(); !slices.Equal(got, parts) {
		t.Errorf("%q, want %q", got, parts)
	}
}

// TestPrint checks that the result key is equal for all renders of an object that was written once.
// For an object that only a render creates, it is the key of the finding.
func TestPrint(t *testing.T) {
	made := found()
	if made.ResultKey() != made.Key() {
		t.Errorf("%+v, want the key %+v", made.ResultKey(), made.Key())
	}
	one, other := found(), found()
	one.Written = Object{APIVersion: "apps/v1", Kind: "Deployment", Name: "base"}
	other.Written, other.Render, other.Object.Name = one.Written, "second", "second-web"
	if one.ResultKey() != other.ResultKey() || one.Key() == other.Key() {
		t.Errorf("prints %+v and %+v, keys %+v and %+v", one.ResultKey(), other.ResultKey(), one.Key(), other.Key())
	}
	if got := one.ResultKey(); got.Name != "base" || got.Render != "" {
		t.Errorf("%+v is not about the object that was written", got)
	}
	api, web := one, one
	api.WrittenField, web.WrittenField = "api.tolerations[a]", "web.tolerations[a]"
	if api.ResultKey() == web.ResultKey() || api.Key() != web.Key() {
		t.Error("two values of one file are one result")
	}
	if one.Object.Name != "web" || one.Render != "overlay" {
		t.Error("the finding itself is changed")
	}
}
