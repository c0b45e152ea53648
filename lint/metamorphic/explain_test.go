package metamorphic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
	"github.com/schedlint/schedlint/rego"
)

// asked is an input for which every finding is explained.
type asked struct {
	options lint.Options
	model   *model.Model
}

// askedOf reads an input twice: as lint does, and into the model that the explanations are
// compared with.
func askedOf(t *testing.T, e *rego.Engine, on, dir string, topology, survive []string, paths ...string) asked {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return asked{
		options: lint.Options{
			Dir: abs, Root: abs, Paths: paths, Topology: topology, Policy: e, Survive: survive,
			Level: func(id string) diag.Level {
				r, _ := e.Rule(id)
				if id == on && r.Level == diag.LevelOff {
					return diag.LevelNote
				}
				return r.Level
			},
		},
		model: modelOf(t, abs, topology, paths),
	}
}

func modelOf(t *testing.T, dir string, nodes, paths []string) *model.Model {
	t.Helper()
	read := func(paths []string) []*source.Object {
		set, err := source.Load(source.Options{Dir: dir, Root: dir}, paths)
		if err != nil {
			t.Fatal(err)
		}
		return set.Objects
	}
	topo := &topology.Topology{}
	if len(nodes) > 0 {
		var err error
		if topo, err = topology.Load(read(nodes)); err != nil {
			t.Fatal(err)
		}
	}
	return sched.New(workload.Load(workload.NewTable(), read(paths)), topo)
}

// every explains every finding of an input once and compares it with the model. It counts the
// tables with rejections by each filter.
func (a asked) every(t *testing.T, count map[string]int) {
	t.Helper()
	r, err := lint.Run(context.Background(), a.options)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, d := range r.Diagnostics {
		spot := lint.Spot{File: d.Location.File, Line: d.Location.Line}
		if seen[spot.String()] {
			continue
		}
		seen[spot.String()] = true
		x, err := lint.Explain(context.Background(), a.options, spot)
		if err != nil {
			t.Errorf("%s: %v", spot, err)
			continue
		}
		for _, f := range x.Found {
			if f.Diagnostic == nil || f.Diagnostic.Location.Line != spot.Line {
				t.Errorf("%s: explained is %+v", spot, f.Diagnostic)
			}
			if wrong := a.wrong(&f, count); wrong != "" {
				t.Errorf("%s [%s]: %s", spot, f.Diagnostic.Rule, wrong)
			}
		}
	}
}

// wrong returns a description of a difference between an explanation and the engine's answer, or
// "".
func (a asked) wrong(f *diag.Explained, count map[string]int) string {
	w := a.find(f.Name)
	switch {
	case f.Name == "" || a.model.Topology.Empty():
		if len(f.Tables) > 0 || len(f.Notes) == 0 {
			return "want a note in place of a table"
		}
		return ""
	case w == nil:
		return "it is about " + f.Name + ", which is not declared"
	case len(f.Tables) == 0:
		return "no table"
	}
	for i := range f.Tables {
		if w = a.find(f.Tables[i].Name); w == nil {
			return "a table is about " + f.Tables[i].Name + ", which is not declared"
		}
		if wrong := a.table(w, &f.Tables[i], count); wrong != "" {
			return f.Tables[i].Caption + ": " + wrong
		}
	}
	return ""
}

func (a asked) find(name string) *workload.Workload {
	for _, w := range a.model.Workloads {
		if w.String() == name {
			return w
		}
	}
	return nil
}

// table checks that every node appears once, and that the filters on the node itself reject it
// exactly if the engine does.
func (a asked) table(w *workload.Workload, t *diag.NodeTable, count map[string]int) string {
	rows := map[string]*diag.NodeRow{}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Why == "" || (r.Outcome == diag.RowRejects) != (len(r.Filters) > 0) {
			return fmt.Sprintf("odd row %+v", r)
		}
		for _, name := range slices.Concat(r.Runs...) {
			if rows[name] != nil {
				return name + " is named twice"
			}
			rows[name] = r
		}
	}
	if len(rows) != len(a.model.Topology.Nodes) {
		return fmt.Sprintf("%d of %d nodes are named", len(rows), len(a.model.Topology.Nodes))
	}
	passing, e := 0, a.model.Eligible(w)
	for i, n := range a.model.Topology.Nodes {
		r := rows[n.Name]
		if r == nil {
			return n.Name + " is not named"
		}
		if r.Outcome == diag.RowUnknown || r.Outcome == diag.RowAside {
			continue
		}
		for _, by := range r.Filters {
			count[by]++
		}
		if lost(r) && e.Nodes[i].All() || !lost(r) && !slices.ContainsFunc(r.Filters, onNodes) {
			passing++
		}
		if wrong := static(r, e.Nodes[i]); wrong != "" {
			return n.Name + ": " + wrong
		}
	}
	if asked := t.Rows[0].Outcome; asked != diag.RowUnknown && asked != diag.RowAside && passing != e.Count {
		return fmt.Sprintf("%d nodes pass, and the engine says %d", passing, e.Count)
	}
	if takes := slices.ContainsFunc(t.Rows, func(r diag.NodeRow) bool { return r.Outcome == diag.RowTakes && r.Pool == "" }); takes && !strings.Contains(t.Caption, "ignoring other pods") {
		return "a node takes a pod that is said to find none"
	}
	return a.reasons(w, rows)
}

// onNodes reports whether filters depend on the node alone.
func onNodes(by string) bool {
	return slices.Contains([]string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity"}, by)
}

// lost reports whether a node is rejected because it is lost or drained.
func lost(r *diag.NodeRow) bool {
	return r.Outcome == diag.RowGone || strings.HasPrefix(r.Why, "is cordoned for the drain") || strings.HasPrefix(r.Why, "is unreachable")
}

// static compares the filters on a node with the engine's answer.
func static(r *diag.NodeRow, p model.Passes) string {
	if lost(r) {
		return ""
	}
	for by, passes := range map[string]bool{"NodeName": p.Name, "NodeUnschedulable": !p.Name || p.Schedulable, "TaintToleration": !p.Name || p.Taints, "NodeAffinity": !p.Name || p.Selector} {
		if by == "TaintToleration" && slices.Contains(r.Filters, "NodeUnschedulable") {
			continue // a cordoned node has a taint that no row mentions
		}
		if slices.Contains(r.Filters, by) == passes {
			return fmt.Sprintf("%s passes: %v, and it is rejected by %v", by, passes, r.Filters)
		}
	}
	return ""
}

// reasons checks the wording of the reasons why nodes are excluded.
func (a asked) reasons(w *workload.Workload, rows map[string]*diag.NodeRow) string {
	for _, x := range a.model.Excluded(w, false) {
		for _, n := range x.Nodes {
			if r := rows[n.Name]; r != nil && r.Outcome == diag.RowRejects && !lost(r) && !strings.Contains(r.Why, message.Excluded(&x)) {
				return fmt.Sprintf("%s %s, and the table says that it %s", n.Name, message.Excluded(&x), r.Why)
			}
		}
	}
	return ""
}

// TestExplainFixtures explains every finding of every fixture.
func TestExplainFixtures(t *testing.T) {
	t.Parallel()
	e, count := linttest.Engine(t), map[string]int{}
	var dirs []string
	for _, pattern := range []string{"../../fixtures/*/bad.yaml", "../../fixtures/incidents/*/manifests.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: nothing, %v", pattern, err)
		}
		dirs = append(dirs, found...)
	}
	for _, path := range trials.Sample(t, dirs, 30) {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var nodes []string
			if _, err := os.Stat(filepath.Join(dir, "nodes.yaml")); err == nil {
				nodes = []string{"nodes.yaml"}
			}
			askedOf(t, e, filepath.Base(dir), dir, nodes, linttest.Survive(text), filepath.Base(path)).every(t, count)
		})
	}
	for _, by := range []string{"TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeUnschedulable"} {
		if count[by] == 0 && !trials.Few(t) {
			t.Errorf("no node is rejected by %s: %v", by, count)
		}
	}
}

// TestExplainRandom explains every finding of random clusters.
func TestExplainRandom(t *testing.T) {
	t.Parallel()
	e, count, list := linttest.Engine(t), map[string]int{}, examples()
	first, random := 0, trials.Of(t, 80)
	switch {
	case trials.Full(t):
		list = slices.Concat(list, bounded(), crowds())
	case trials.Few(t):
		list, first, random = list[1:3], 1, 2 // the first cluster is large
	}
	for seed := first; seed < random; seed++ {
		list = append(list, dice{rand.New(rand.NewPCG(uint64(seed), 53))}.example(seed))
	}
	for _, x := range list {
		dir := t.TempDir()
		for name, docs := range map[string][]string{"all.yaml": x.docs, "nodes.yaml": x.nodes} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(docs, "---\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		ok := t.Run(x.name, func(t *testing.T) {
			askedOf(t, e, "", dir, []string{"nodes.yaml"}, []string{byHost, byZone}, "all.yaml").every(t, count)
		})
		if !ok {
			for _, docs := range [][]string{x.nodes, x.docs} {
				t.Log(strings.Join(docs, "---\n"))
			}
		}
	}
	t.Log(count)
}

// TestExplainUnknown checks that an explanation reports every node as unknown exactly once.
func TestExplainUnknown(t *testing.T) {
	for spec, want := range map[string]string{
		"schedulerName: other":            "unknown: scheduled by another scheduler, other",
		"schedulingGates: [{name: x}]":    "unknown: held back by scheduling gates",
		"nodeSelector: {zone: '${ZONE}'}": "unknown: ",
	} {
		dir := t.TempDir()
		pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: example.com/c}]\n  " + spec + "\n"
		for name, text := range map[string]string{"pod.yaml": pod, "nodes.yaml": linttest.Workers(3, 0)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		a := askedOf(t, linttest.Engine(t), "", dir, []string{"nodes.yaml"}, nil, "pod.yaml")
		x, err := lint.Explain(context.Background(), a.options, lint.Spot{File: "pod.yaml", Line: 3})
		if err != nil {
			t.Fatal(err)
		}
		rows := x.Found[0].Tables[0].Rows
		if len(rows) != 1 || rows[0].Outcome != diag.RowUnknown || len(rows[0].Runs[0]) != 3 || !strings.HasPrefix(rows[0].Why, want) {
			t.Errorf("%s: %+v", spec, rows)
		}
	}
}
