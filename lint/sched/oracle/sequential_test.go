package main

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/lint/sched/simulate"
)

// TestSequential makes runs with the filters and scores of the scheduler, pod by pod
// in a drawn order, and the same runs with ours: in each state both must let the next
// pod onto the same best nodes. How many runs are complete is compared with the share
// of simulated runs. SCHEDLINT_RUNS sets how many runs of a cluster are made.
func TestSequential(t *testing.T) {
	runs := 4
	if n, err := strconv.Atoi(os.Getenv("SCHEDLINT_RUNS")); err == nil {
		runs = n
	}
	world := newComparer(options{}).World
	sum, freedom, pods := 0.0, 0, 0
	for number := range uint64(20 * max(1, min(10, runs/4))) {
		c := clusters.Everyday(29, number)
		nodes, manifests := c.Text()
		ours, err := NewOurs(nodes, manifests)
		if err != nil {
			t.Fatal(err)
		}
		r := simulate.Runs(ours.Model, 1000)
		share, whole := 0.0, len(r.Components) == 1 && !r.Components[0].Why.Given()
		if whole {
			share = float64(r.Components[0].Complete) / 1000
		}
		even := whole && share > 0.1 && share < 0.9
		cluster, err := NewCluster(nodes, manifests)
		if err != nil {
			t.Fatal(err)
		}
		complete, made := 0, 1
		if even {
			made = runs
		}
		for run := range uint64(made) {
			if sequential(t, world, cluster, ours, rand.New(rand.NewPCG(number, run))) {
				complete++
			}
			pods += cluster.Total()
		}
		switch {
		case whole && (share == 0 && complete > 0 || share == 1 && complete < made):
			t.Errorf("cluster %d: %d of %d runs are complete, and the share is %v", number, complete, made, share)
		case even:
			differ := float64(complete) - share*float64(made)
			sum += differ * differ / (share * (1 - share) * float64(made) * (1 + float64(made)/1000))
			freedom++
			t.Logf("cluster %d: %d of %d runs are complete, %.1f expected", number, complete, made, share*float64(made))
		}
	}
	// The limit for 99.9 %, by the approximation of Wilson and Hilferty.
	k := 2 / (9 * float64(freedom))
	if limit := float64(freedom) * math.Pow(1-k+3.09*math.Sqrt(k), 3); sum > limit {
		t.Errorf("chi-square of %d clusters is %.1f, want at most %.1f", freedom, sum, limit)
	}
	t.Logf("%d pods, chi-square %.1f of %d clusters", pods, sum, freedom)
}

// sequential makes one run on both sides and reports whether it is complete.
func sequential(t *testing.T, world *World, c *Cluster, ours *Ours, random *rand.Rand) bool {
	t.Helper()
	if err := world.Load(c); err != nil {
		t.Fatal(err)
	}
	state := simulate.NewState(ours.Model)
	place := func(class *Class) bool {
		best, _ := world.Best(t.Context(), class)
		w := ours.Workloads[class.Series.Name]
		if !class.Series.Daemon {
			if got := slices.Sorted(slices.Values(state.Best(w))); !slices.Equal(got, best) {
				t.Fatalf("pod of %s: scheduler %v, we %v", class.Series.Name, best, got)
			}
		}
		if len(best) == 0 {
			return false
		}
		n := int(best[random.IntN(len(best))])
		world.Place(class, n)
		state.Bind(w, n)
		return true
	}
	queue := []*Class{}
	var groups [][]*Class
	for _, s := range c.Series {
		var group []*Class
		for _, class := range s.Classes {
			group = append(group, slices.Repeat([]*Class{class}, class.Count)...)
		}
		if s.Daemon {
			queue = append(queue, group...)
		} else {
			groups = append(groups, group)
		}
	}
	random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	rest := slices.Concat(groups...)
	if random.IntN(2) == 0 {
		random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	}
	queue = append(queue, rest...)
	for before := -1; len(queue) != before; {
		before = len(queue)
		queue = slices.DeleteFunc(queue, place)
	}
	return len(queue) == 0
}
