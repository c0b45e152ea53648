package diag

import (
	"reflect"
	"testing"
)

// TestMerge checks that findings of several renders at one location are merged, and that findings
// without a separate location or without a render are not.
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

// TestMergeNodes checks that findings of several clusters and renders about shared nodes are merged
// if their messages are equal.
func TestMergeNodes(t *testing.T) {
	at := Span{File: "nodes.yaml", Line: 3, Column: 1, EndLine: 3, EndColumn: 2}
	of := func(cluster, render, message string, level Level) Diagnostic {
		return Diagnostic{Rule: "r", Level: level, Message: message, Location: at, Cluster: cluster, Render: render, Nodes: true}
	}
	merged := Merge([]Diagnostic{
		of("prod", "", "cpu", LevelWarning),
		of("dev", "", "cpu", LevelError),
		of("prod", "a", "memory", LevelWarning),
		of("prod", "b", "memory", LevelWarning),
		of("prod", "b", "pods", LevelWarning),
		of("", "", "zones", LevelWarning),
		of("", "c", "zones", LevelWarning),
	})
	want := []Diagnostic{
		of("", "", "cpu", LevelError),
		of("prod", "a", "memory", LevelWarning),
		of("prod", "b", "pods", LevelWarning),
		of("", "", "zones", LevelWarning),
	}
	want[0].Clusters, want[1].Renders, want[2].Renders, want[3].Renders = []string{"dev", "prod"}, []string{"a", "b"}, []string{"b"}, []string{"c"}
	if !reflect.DeepEqual(merged, want) {
		t.Errorf("%+v\nwant %+v", merged, want)
	}
	if again := Merge(merged); !reflect.DeepEqual(again, want) {
		t.Errorf("merged twice it is %+v", again)
	}
	if left := of("dev", "", "cpu", LevelError); merged[0].ResultKey() != left.ResultKey() {
		t.Error("the print changes once one of the clusters is fixed")
	}
}
