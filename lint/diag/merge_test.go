package diag

import (
	"reflect"
	"testing"
)

// TestMerge makes one result of what several renders say of one place, and leaves alone
// what has no place of its own or no render.
func TestMerge(t *testing.T) {
	at := Span{File: "base/web.yaml", Line: 3, Column: 1, EndLine: 3, EndColumn: 2}
	top := Span{File: "kustomization.yaml", Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
	web, api := Object{Kind: "Deployment", Name: "web"}, Object{Kind: "Deployment", Name: "api"}
	of := func(render, message string, level Level, o, written Object, s Span) Diagnostic {
		return Diagnostic{Rule: "r", Level: level, Message: message, Object: o, Written: written, Location: s, Render: render}
	}
	all := []Diagnostic{
		of("b", "same", LevelWarning, web, web, at),
		of("a", "same", LevelError, web, web, at),
		of("c", "other", LevelWarning, web, web, at),
		of("", "same", LevelError, web, Object{}, at),
		of("a", "made", LevelError, web, Object{}, top),
		of("a", "made", LevelError, api, Object{}, top),
	}
	merged := Merge(all)
	again := Merge(merged)
	if !reflect.DeepEqual(merged, again) {
		t.Errorf("merged twice it is %+v", again)
	}
	if len(merged) != 4 {
		t.Fatalf("%d results: %+v", len(merged), merged)
	}
	first := merged[0]
	if !reflect.DeepEqual(first.Renders, []string{"a", "b", "c"}) || first.Level != LevelError || !first.Differ || len(first.Related) != 1 || first.Related[0].Message != "in render c: other" {
		t.Errorf("the first is %+v", first)
	}
	if all[0].Renders != nil {
		t.Error("the findings themselves are changed")
	}
}
