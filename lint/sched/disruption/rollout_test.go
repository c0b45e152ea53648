package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// Indices of the enumerator's keys. keys holds the names of the keys.
const (
	host = iota
	zone
	rack
)

var keys = []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"}

// place is one node of the enumerator, with its domains and the number of pods that it can hold.
type place struct {
	domain [3]int
	slots  int
}

// rules describes the rules about the pods of one Deployment.
type rules struct {
	apart  []int // keys of required anti-affinity
	spread bool  // hard constraint over zones with maxSkew 1
	own    bool  // all rules ignore pods of the other revision
}

// controller enumerates all runs of the Deployment controller's loop, with an independent
// implementation of its arithmetic (pkg/controller/deployment/rolling.go; R-W5). It tries every
// choice of the scheduler, of the pods to delete and of the time for which these remain.
type controller struct {
	places                       []place
	rules                        rules
	replicas, surge, unavailable int
	alike                        [][2]int // pairs of places that differ only in their names
	started, seen                map[cluster]bool
	begun, stuck, done           bool
}

// cluster is one state: the number of pods of each revision on each node, including terminating
// old pods, and the replica count of each ReplicaSet.
type cluster struct {
	on   [2][8]int8
	spec [2]int8
}

func sum(pods [8]int8) (n int8) {
	for _, p := range pods {
		n += p
	}
	return n
}

// counted returns the pods that count for the rules of a pod of the given revision.
func (c *controller) counted(s *cluster, revision int) [8]int8 {
	pods := s.on[revision]
	if !c.rules.own {
		for n, p := range s.on[1-revision] {
			pods[n] += p
		}
	}
	return pods
}

// takes applies the filters to one more pod of a revision on a node.
func (c *controller) takes(s *cluster, n, revision int) bool {
	at := c.places[n]
	if int(s.on[0][n]+s.on[1][n]) >= at.slots {
		return false
	}
	pods := c.counted(s, revision)
	in := func(key, domain int) (count int) {
		for i, p := range c.places {
			if p.domain[key] == domain {
				count += int(pods[i])
			}
		}
		return count
	}
	if slices.ContainsFunc(c.rules.apart, func(key int) bool { return in(key, at.domain[key]) > 0 }) {
		return false
	}
	if !c.rules.spread {
		return true
	}
	least := 1 << 20
	for _, p := range c.places {
		least = min(least, in(zone, p.domain[zone]))
	}
	return in(zone, at.domain[zone])+1-least <= 1
}

// name returns the same state for all states that differ only in the names of equivalent nodes.
func (c *controller) name(s cluster) cluster {
	for _, pair := range c.alike {
		a, b := pair[0], pair[1]
		if s.on[0][a] < s.on[0][b] || s.on[0][a] == s.on[0][b] && s.on[1][a] < s.on[1][b] {
			for r := range s.on {
				s.on[r][a], s.on[r][b] = s.on[r][b], s.on[r][a]
			}
		}
	}
	return s
}

// pairs returns the pairs of equivalent places, which are alone in every domain and have the same
// size.
func (c *controller) pairs() (all [][2]int) {
	for a := range c.places {
		for b := a + 1; b < len(c.places); b++ {
			if c.places[a].slots == c.places[b].slots && c.lonely(a) && c.lonely(b) {
				all = append(all, [2]int{a, b})
			}
		}
	}
	return all
}

func (c *controller) lonely(n int) bool {
	for i, p := range c.places {
		for key := range p.domain {
			if i != n && p.domain[key] == c.places[n].domain[key] {
				return false
			}
		}
	}
	return true
}

// start tries all placements of the old pods, and starts a rollout from each of them.
func (c *controller) start(s cluster) {
	s = c.name(s)
	if c.started[s] {
		return
	}
	c.started[s] = true
	if int(sum(s.on[0])) == c.replicas {
		c.begun = true
		s.spec[0] = int8(c.replicas)
		c.visit(s)
		return
	}
	for n := range c.places {
		if c.takes(&s, n, 0) {
			next := s
			next.on[0][n]++
			c.start(next)
		}
	}
}

// visit explores every possible next step from one state.
func (c *controller) visit(s cluster) {
	s = c.name(s)
	if c.seen[s] || c.stuck && c.done {
		return
	}
	c.seen[s] = true
	if sum(s.on[0]) == 0 && int(sum(s.on[1])) == c.replicas {
		c.done = true
		return
	}
	moved := false
	move := func(next cluster) {
		moved = true
		c.visit(next)
	}
	if next := c.reconcile(s); next != s {
		move(next)
	}
	for n := range c.places {
		if s.spec[1] > sum(s.on[1]) && c.takes(&s, n, 1) {
			next := s
			next.on[1][n]++
			move(next)
		}
		if s.on[0][n] > 0 && sum(s.on[0]) > s.spec[0] { // a terminating pod leaves
			next := s
			next.on[0][n]--
			move(next)
		}
	}
	c.stuck = c.stuck || !moved
}

// reconcile runs one round of the controller. It scales up the new ReplicaSet if possible, or else
// scales down the old one. A new pod is available once it is on a node.
func (c *controller) reconcile(s cluster) cluster {
	replicas, old, fresh := int8(c.replicas), s.spec[0], s.spec[1]
	if fresh < replicas {
		if room := replicas + int8(c.surge) - old - fresh; room > 0 {
			s.spec[1] += min(room, replicas-fresh)
			return s
		}
	}
	least, available := replicas-int8(c.unavailable), sum(s.on[1])
	if old+fresh-least-(fresh-available) > 0 {
		s.spec[0] -= max(0, min(old, old+available-least))
	}
	return s
}

func (c *controller) verdict() diag.Outcome {
	c.alike, c.started, c.seen = c.pairs(), map[cluster]bool{}, map[cluster]bool{}
	c.start(cluster{})
	switch {
	case !c.begun:
		return ""
	case !c.done:
		return diag.Never
	case c.stuck:
		return diag.Sometimes
	}
	return diag.Always
}

// text returns the case as input: nodes and a Deployment.
func (c *controller) text() (nodes, manifest string) {
	for n, p := range c.places {
		nodes += fmt.Sprintf("---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {%s: n%d, %s: z%d, rack: r%d}}, status: {allocatable: {pods: %q}}}\n",
			n, keys[host], n, keys[zone], p.domain[zone], p.domain[rack], fmt.Sprint(p.slots))
	}
	selector := "labelSelector: {matchLabels: {app: web}}"
	if c.rules.own {
		selector += ", matchLabelKeys: [pod-template-hash]"
	}
	var apart []string
	for _, key := range c.rules.apart {
		apart = append(apart, fmt.Sprintf("{topologyKey: %s, %s}", keys[key], selector))
	}
	spec := fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [%s]}}", strings.Join(apart, ", "))
	if c.rules.spread {
		spec += fmt.Sprintf(", topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: %s, %s}]", keys[zone], selector)
	}
	return nodes, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: %d, strategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: %d}},
  selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}], %s}}}}`, c.replicas, c.surge, c.unavailable, spec)
}

// settings lists the clusters and rules for which rollouts are enumerated.
var settings = []struct {
	name  string
	rules rules
	place func(n int) place
}{
	{"one key", rules{apart: []int{host}}, roomy},
	{"one key, revisions apart", rules{apart: []int{host}, own: true}, roomy},
	{"one key, revisions apart, a pod a node", rules{apart: []int{host}, own: true}, tight(1)},
	{"two keys that nest", rules{apart: []int{host, zone}}, pairs},
	{"two keys that cross", rules{apart: []int{zone, rack}}, crossing},
	{"two keys that cross, revisions apart", rules{apart: []int{zone, rack}, own: true}, crossing},
	{"spread", rules{spread: true}, roomy},
	{"spread, revisions apart", rules{spread: true, own: true}, roomy},
	{"spread, two pods a node", rules{spread: true}, tight(2)},
	{"spread, two pods a node, revisions apart", rules{spread: true, own: true}, tight(2)},
	{"spread and one key", rules{apart: []int{host}, spread: true}, pairs},
	{"spread and one key, revisions apart", rules{apart: []int{host}, spread: true, own: true}, pairs},
	{"uneven zones", rules{spread: true}, uneven},
	{"uneven zones, revisions apart", rules{spread: true, own: true}, uneven},
}

func roomy(n int) place { return place{[3]int{n, n, n}, 100} }

func tight(slots int) func(n int) place {
	return func(n int) place { return place{[3]int{n, n, n}, slots} }
}
func pairs(n int) place    { return place{[3]int{n, n / 2, n}, 100} }
func crossing(n int) place { return place{[3]int{n, n % 3, n / 2}, 100} }
func uneven(n int) place   { return place{[3]int{n, n, n}, 1 + n%3} }

// size holds the size of a cluster and the numbers of a rollout on it.
type size struct{ domains, replicas, surge, unavailable int }

// sizes returns all sizes up to a maximum that the API server accepts.
func sizes() (all []size) {
	for domains := 1; domains <= 7; domains++ {
		for replicas := 1; replicas <= 6; replicas++ {
			for surge := 0; surge <= 3; surge++ {
				for unavailable := 0; unavailable <= min(3, replicas); unavailable++ {
					if surge+unavailable > 0 {
						all = append(all, size{domains, replicas, surge, unavailable})
					}
				}
			}
		}
	}
	return all
}

// TestRolloutAgreesWithController compares verdicts with all runs of the controller's loop.
func TestRolloutAgreesWithController(t *testing.T) {
	t.Parallel()
	for _, setting := range settings {
		t.Run(setting.name, func(t *testing.T) {
			all, count := sizes(), map[diag.Outcome]int{}
			for _, i := range newGenerator(len(setting.name), 500).Perm(len(all))[:min(len(all), trials.Of(t, len(all)))] {
				x := all[i]
				c := &controller{rules: setting.rules, replicas: x.replicas, surge: x.surge, unavailable: x.unavailable}
				for n := range x.domains {
					c.places = append(c.places, setting.place(n))
				}
				want := c.verdict()
				count[want]++
				nodes, manifest := c.text()
				j, m := judge(t, nodes, manifest)
				if got := j.Rollout(find(t, m, "web"), x.replicas); got.Verdict != want {
					t.Errorf("%+v: %q, want %q", x, got.Verdict, want)
				}
			}
			t.Logf("%v", count)
		})
	}
}
