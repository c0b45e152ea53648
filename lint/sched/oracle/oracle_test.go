package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	backend "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

// TestAgreement compares some thousand cases.
func TestAgreement(t *testing.T) {
	cases := trials.AtLeast(t, 600, 60)
	o := options{cases: cases, seed: 20260101 + uint64(trials.First(t)), families: slices.DeleteFunc(slices.Clone(clusters.Families), large), states: 10_000, walks: 2, decide: true}
	tables, failures := run(o)
	o.cases, o.families = cases/4, []string{"large"} // each takes as long as ten others
	many, more := run(o)
	tables, failures = append(tables, many...), append(failures, more...)
	for _, x := range tables {
		decided := x.always + x.order + x.never
		if x.discarded+x.undetermined > x.cases/10+2 || decided < x.cases/3 {
			t.Errorf("%s: too little is compared: %+v", x.family, x)
		}
	}
	comparer := newComparer(options{states: 10_000, walks: 2, decide: true})
	for i, f := range failures {
		if i == 5 {
			t.Fatalf("and %d more", len(failures)-i)
		}
		small := comparer.shrink(f)
		nodes, manifests := small.c.Text()
		t.Errorf("%s case %d: %s: %s\n%s%s", f.c.Family, f.c.Number, f.finding.Kind, small.finding.Text, nodes, manifests)
	}
}

func large(family string) bool { return family == "large" }

// TestFixtures holds the recorded answers against the scheduler, and our side
// against both.
func TestFixtures(t *testing.T) {
	paths, err := filepath.Glob("../../../fixtures/oracle/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	comparer := newComparer(options{states: 1_000_000, walks: 2, decide: true})
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			_, nodes, manifests, expected, err := readFixture(path)
			if err != nil {
				t.Fatal(err)
			}
			e, err := answer(comparer.World, nodes, manifests, comparer.States)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := json.MarshalIndent(e, "", "  "); err != nil || string(got)+"\n" != expected {
				t.Errorf("the scheduler says %s (%v), want %s", got, err, expected)
			}
			r, err := comparer.try(nodes, manifests)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				t.Errorf("%s: %s", f.Kind, f.Text)
			}
		})
	}
}

// TestSnapshot holds the live lister against the scheduler's own snapshot, made
// anew from the pods of the state: on the way of random runs both must let the
// same pods onto the same nodes.
func TestSnapshot(t *testing.T) {
	ctx := context.Background()
	comparer := newComparer(options{})
	fresh, err := NewWorld(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range trials.Seeds(t, trials.AtLeast(t, 600, 60)) {
		c := clusters.Generate([]string{"mixed", "mixed", "volumes"}[i%3], 7, uint64(i))
		cluster, err := NewCluster(c.Text())
		if err != nil {
			t.Fatal(err)
		}
		if err := comparer.World.Load(cluster); err != nil {
			t.Fatal(err)
		}
		left := map[*Class]int{}
		for {
			moved := false
			for _, class := range cluster.Classes() {
				if class.Bound {
					continue // a kubelet has no snapshot
				}
				live := comparer.World.Filter(ctx, class)
				if again := onSnapshot(t, fresh, cluster, comparer.World, class); !slices.Equal(live, again) {
					t.Fatalf("case %d, %s: live %q, snapshot %q", i, class.Series.Name, live, again)
				}
				if n := slices.Index(live, ""); n >= 0 && left[class] < class.Count && !moved {
					comparer.World.Place(class, n)
					left[class]++
					moved = true
				}
			}
			if !moved {
				break
			}
		}
	}
}

// onSnapshot filters with a snapshot of the pods that are placed in a world.
func onSnapshot(t *testing.T, fresh *World, cluster *Cluster, state *World, class *Class) []string {
	t.Helper()
	if err := fresh.Load(&Cluster{Nodes: cluster.Nodes, Namespaces: cluster.Namespaces}); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[cache.Indexer]cache.Indexer{
		fresh.storage.claims: state.storage.claims, fresh.storage.volumes: state.storage.volumes, fresh.storage.classes: state.storage.classes,
	} {
		if err := to.Replace(from.List(), "1"); err != nil {
			t.Fatal(err)
		}
	}
	var pods []*corev1.Pod
	for _, n := range state.nodes {
		for _, p := range n.GetPods() {
			pods = append(pods, p.GetPod().DeepCopy())
		}
	}
	snapshot := backend.NewSnapshot(pods, cluster.Nodes)
	fresh.lister.snapshot = snapshot
	for i, n := range cluster.Nodes {
		info, err := snapshot.NodeInfos().Get(n.Name)
		if err != nil {
			t.Fatal(err)
		}
		fresh.lister.all[i] = info
	}
	return fresh.Filter(t.Context(), class)
}
