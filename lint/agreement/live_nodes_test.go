package agreement

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// live gives each Node of a seed unique labels, unusable extra memory and a rack label. It returns
// false if there are no Nodes.
func (s seed) live(t *testing.T, r *rand.Rand) (seed, bool) {
	t.Helper()
	var nodes strings.Builder
	some := false
	for _, doc := range strings.Split(string(s.nodes), "---\n") {
		var n map[string]any
		if err := yaml.Unmarshal([]byte(doc), &n); err != nil {
			t.Fatal(err)
		}
		if n["kind"] == "Node" {
			some = true
			makeLive(n, r)
		}
		text, err := yaml.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&nodes, "---\n%s", text)
	}
	return seed{s.manifest, []byte(nodes.String())}, some
}

func makeLive(n map[string]any, r *rand.Rand) {
	meta := n["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
		meta["labels"] = labels
	}
	labels["example.com/serial"], labels["example.com/rack"] = fmt.Sprintf("s%08x", r.Uint32()), fmt.Sprintf("r%d", r.IntN(3))
	status, _ := n["status"].(map[string]any)
	sizes, _ := status["allocatable"].(map[string]any)
	for unit, in := range map[string]int{"Gi": 1 << 20, "Mi": 1 << 10} {
		text, _ := sizes["memory"].(string)
		var size int
		if count, _ := fmt.Sscanf(text, "%d"+unit, &size); count == 1 && text == fmt.Sprint(size, unit) {
			sizes["memory"] = fmt.Sprintf("%dKi", size*in+r.IntN(100))
		}
	}
}

// reversed returns the seed with its nodes in reverse order.
func (s seed) reversed() seed {
	docs := strings.Split(strings.TrimPrefix(string(s.nodes), "---\n"), "---\n")
	slices.Reverse(docs)
	for i, doc := range docs {
		docs[i] = strings.TrimSuffix(doc, "\n") + "\n"
	}
	return seed{s.manifest, []byte(strings.Join(docs, "---\n"))}
}

// found returns where each rule reports findings. It returns false if a question was given up: more
// pools of nodes take more steps.
func (s seed) found(t *testing.T) ([]string, bool) {
	t.Helper()
	r, err := lint.Run(context.Background(), s.options(t))
	if r == nil {
		t.Fatal(err)
	}
	var all []string
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		if d.Location.File == "m.yaml" {
			all = append(all, fmt.Sprintf("%d %s %s %s", d.Location.Line, d.Level, d.Rule, d.Object.Name))
		}
	}
	slices.Sort(all)
	return all, !diag.Unsettled(r.Summary.Unknown, diag.FailBudget)
}

// TestLiveNodesChangeNoFinding checks that findings depend neither on node properties that no pod
// uses nor on the order of the nodes. The clusters come from fixtures and a random generator.
func TestLiveNodesChangeNoFinding(t *testing.T) {
	t.Parallel()
	all := trials.Sample(t, fixtureSeeds(), 5)
	for i := range trials.Seeds(t, trials.Of(t, 60)) {
		for _, family := range clusters.Families {
			all = append(all, generated(family, 3, i))
		}
	}
	compared, abandoned := 0, 0
	for i, s := range all {
		other, some := s.live(t, rand.New(rand.NewPCG(uint64(i), 23)))
		if !some {
			continue
		}
		compared++
		want, decided := s.found(t)
		got, also := other.found(t)
		if decided != also {
			abandoned++
		} else if !slices.Equal(got, want) {
			t.Errorf("%q, with live nodes %q\n%s%s", want, got, other.nodes, s.manifest)
		}
		if got, _ := s.reversed().found(t); !slices.Equal(got, want) {
			t.Errorf("%q, with nodes in another order %q\n%s%s", want, got, s.nodes, s.manifest)
		}
	}
	if abandoned > compared/100 {
		t.Errorf("steps ran out for %d of %d clusters with one of the two kinds of nodes", abandoned, compared)
	}
	if compared < len(all)/4 {
		t.Errorf("%d of %d clusters have nodes", compared, len(all))
	}
}
