package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestDemand checks that the same requests fit in an amount and in its usable part (T19).
func TestDemand(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	for range trials.Of(t, 20_000) {
		unit := 1 + r.Int64N(7)
		asks := make([]int64, 1+r.IntN(3))
		for i := range asks {
			asks[i] = unit * (1 + r.Int64N(5))
		}
		has := r.Int64N(60)
		pods := make([]int, len(asks))
		for i := range pods {
			pods[i] = r.IntN(8)
		}
		usable := search.Usable(has, pods, asks...)
		if usable > has {
			t.Fatalf("of %d pods that ask for %d can use %d", has, asks, usable)
		}
		for range 10 {
			total := int64(0)
			for i, ask := range asks {
				total += ask * r.Int64N(int64(pods[i]+1))
			}
			if (total <= has) != (total <= usable) {
				t.Fatalf("%d of %d each: %d of %d are usable", total, asks, usable, has)
			}
		}
	}
	for _, c := range []struct {
		has, ask int64
		pods     int
		want     int64
	}{
		{math.MaxInt64, 64, 2, math.MaxInt64}, {0, 64, 2, 0}, {-5, 64, 2, -5}, {100, 0, 2, 100}, {100, 1, 200, 100}, {63, 64, 2, 0},
		{100, 1, 7, 7}, {100, 40, 1, 40}, {100, 40, 0, 100}, {math.MaxInt64 - 1, math.MaxInt64 / 2, 3, math.MaxInt64 / 2 * 2},
	} {
		if got := search.Usable(c.has, []int{c.pods}, c.ask); got != c.want {
			t.Errorf("of %d %d pods that ask for %d can use %d, want %d", c.has, c.pods, c.ask, got, c.want)
		}
	}
}

// TestClassesBySize checks that nodes are one class if their sizes differ by less than the pods can
// use.
func TestClassesBySize(t *testing.T) {
	sized := func(memory ...string) (nodes string) {
		for i, m := range memory {
			nodes += node(fmt.Sprintf("n%d", i), fmt.Sprintf("%s=n%d", hostKey, i)) + fmt.Sprintf("status:\n  allocatable: {cpu: \"4\", memory: %s, pods: \"100\"}\n", m)
		}
		return nodes
	}
	asks := func(name, memory string) string {
		return named(name, 2, fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {memory: %s}}}]\n", memory))
	}
	both := func(cpu, memory string) string {
		return named("a", 2, fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %s, memory: %s}}}]\n", cpu, memory))
	}
	for name, c := range map[string]struct {
		nodes, manifests string
		pods, want       int
	}{
		"jitter":                    {sized("4Gi", "4194310Ki", "4200000Ki", "4290000Ki"), asks("a", "256Mi"), 100, 1},
		"one grain more":            {sized("4Gi", "4352Mi", "4400Mi"), asks("a", "256Mi"), 100, 2},
		"two sizes":                 {sized("1000Mi", "1023Mi", "1024Mi"), asks("a", "512Mi") + asks("b", "768Mi"), 100, 2},
		"odd request":               {sized("1000Mi", "1001Mi", "1002Mi"), asks("a", "512Mi") + asks("b", "1Mi"), 100, 3},
		"nobody asks for it":        {sized("1Gi", "2Gi"), named("a", 2, "containers: [{name: c, image: c}]\n"), 100, 1},
		"room for all of them":      {sized("4Gi", "5Gi", "64Gi"), asks("a", "512Mi") + asks("b", "1Gi"), 4, 1},
		"not for all of them":       {sized("4Gi", "5Gi", "64Gi"), asks("a", "512Mi") + asks("b", "1Gi"), 5, 2},
		"other resource runs short": {sized("8Gi", "16Gi", "24Gi"), both("1", "1Gi"), 20, 1},
		"one runs short of another": {sized("3Gi", "4Gi", "5Gi"), both("1", "1Gi"), 20, 2},
	} {
		m, _ := modelOf(t, c.nodes, c.manifests)
		if got := search.ClassesOf(m, c.pods); got != c.want {
			t.Errorf("%s: %d classes, want %d", name, got, c.want)
		}
	}
}

// TestSizesChangeNoVerdict compares decisions with enumeration on clusters whose nodes all differ
// slightly in size.
func TestSizesChangeNoVerdict(t *testing.T) {
	t.Parallel()
	count := hold(t, 300, 191, func(g generator) sample {
		nodes := ""
		for n := range 2 + g.IntN(2) {
			nodes += node(fmt.Sprintf("n%d", n), fmt.Sprintf("%s=n%d,%s=z%d", hostKey, n, zoneKey, n%2)) +
				fmt.Sprintf("status:\n  allocatable: {cpu: %dm, memory: %dMi, pods: \"5\"}\n", 500*(1+g.IntN(4))+g.IntN(500), 256*(1+g.IntN(4))+g.IntN(256))
		}
		request := func() string {
			return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q, memory: %s}}}]\n", g.pick("1", "500m", "250m"), g.pick("256Mi", "512Mi", "300Mi"))
		}
		rule := ""
		switch g.IntN(3) {
		case 0:
			rule = ruled([]string{term(hostKey, sel("app=a"))}, nil, nil)
		case 1:
			rule = ruled(nil, nil, []string{tsc(zoneKey, sel("app=a"), "")})
		}
		manifests := named("a", 1+g.IntN(3), rule+request()) + named("b", 1+g.IntN(2), request())
		return sample{nodes, manifests, func(*model.Model, truth, *certificate.Decision) string { return "" }}
	})
	count.vary(t, 10, diag.Always, diag.Sometimes, diag.Never)
}
