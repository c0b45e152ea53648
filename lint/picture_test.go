package lint_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestPicturesChangeNothing checks over the fixtures that a picture changes no answer, and that its
// placement and its run that gets stuck are those of the JSON, pod by pod and node by node.
func TestPicturesChangeNothing(t *testing.T) {
	found, err := filepath.Glob("../fixtures/*/bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, name := range found {
		dir := filepath.Dir(name)
		o := lint.Options{Dir: dir, Root: dir, Paths: []string{"bad.yaml"}, Topology: []string{"nodes.yaml"}}
		plain, err := lint.Place(t.Context(), o)
		if err != nil {
			continue // not a fixture of place
		}
		o.Pictures = true
		drawn, err := lint.Place(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		texts := [2]string{}
		for i, doc := range []*diag.Placements{plain, drawn} {
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = string(text)
		}
		if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
		for i := range drawn.Decisions {
			d := &drawn.Decisions[i]
			if d.Picture == nil {
				t.Fatalf("%s: no picture", dir)
			}
			want := map[string][]diag.PlacementStep{}
			if len(d.Witness) > 0 {
				want[diag.AskPlaced] = d.Witness
			}
			if d.Stuck != nil {
				want[diag.AskStuck] = d.Stuck.Placements
			}
			got := map[string][]diag.PlacementStep{}
			for k := range d.Picture.Runs {
				r := &d.Picture.Runs[k]
				if r.Question != diag.AskPlaced && r.Question != diag.AskStuck {
					continue
				}
				compared[r.Question]++
				got[r.Question] = []diag.PlacementStep{}
				for _, e := range r.Events {
					n := d.Picture.Nodes[e.Node]
					got[r.Question] = append(got[r.Question], diag.PlacementStep{Workload: d.Picture.Workloads[e.Workload].Reference, Node: n.Name, Zone: n.Zone})
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", dir, diff)
			}
		}
	}
	if compared[diag.AskPlaced] < 20 || compared[diag.AskStuck] < 5 {
		t.Errorf("few runs: %v", compared)
	}
}
