package search_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// filtered returns a random cluster in which every filter refuses some pods.
func (g generator) filtered() (nodes, manifests string) {
	nodes, manifests = g.nodes(2+g.IntN(2)), g.several()
	for range 2 {
		asks := "containers: [{name: c, image: c, resources: {requests: {cpu: \"" + g.pick("1", "2") + "\"}}" + g.pick("", ", ports: [{containerPort: 80, hostPort: 80}]") + "}]\n"
		manifests = strings.Replace(manifests, "containers: [{name: c, image: c}]\n", asks, 1)
	}
	if g.chance(30) {
		manifests = strings.Replace(manifests, "kind: Deployment", "kind: StatefulSet", 1)
		manifests = strings.Replace(manifests, "matchLabels: {app: \"web\"}", "matchLabels: {apps.kubernetes.io/pod-index: \"1\"}", 1)
	}
	if g.chance(30) {
		manifests = strings.Replace(manifests, "matchLabels: {tier: \"s\"}", "matchLabels: {"+zoneKey+": a}", 1)
	}
	return nodes, manifests
}

// few has clusters for mistakes that matter in few random ones.
var few = map[string][2]string{
	"one affinity is lost": {
		room(0, zoneKey+"=a,"+hostKey+"=n0,db=x", 1) + room(1, zoneKey+"=a,"+hostKey+"=n1", 2),
		named("db", 1, "nodeSelector: {db: x}\n") + named("web", 1, aff(term(hostKey, sel("app=db")), term(zoneKey, sel("app=db")))),
	},
	"places are everywhere": {
		room(0, zoneKey+"=a,"+hostKey+"=n0", 9) + room(1, zoneKey+"=b,"+hostKey+"=n1", 9),
		named("db", 2, anti(term(hostKey, sel("app=db")))) + named("web", 1, anti(term(hostKey, sel("app=db,"+zoneKey+"=a")))),
	},
	"none": { // a pod of a DaemonSet that its own rule would exclude from the only node with a zone
		room(0, zoneKey+"=a,"+hostKey+"=n0", 1) + sized(1, "", ""),
		strings.Replace(named("web", 1, anti(term(hostKey, sel(zoneKey+"=a")))), "Deployment", "DaemonSet", 1) + named("db", 1, "nodeSelector: {"+zoneKey+": a}\n"),
	},
	"no minDomains":      {room(0, zoneKey+"=a", 9) + room(1, zoneKey+"=b", 9), named("web", 3, spread(tsc(zoneKey, sel("app=web"), ", minDomains: 3")))},
	"maxSkew is smaller": {room(0, zoneKey+"=a", 9) + room(1, zoneKey+"=b", 0), named("web", 2, strings.Replace(spread(tsc(zoneKey, sel("app=web"), "")), "maxSkew: 1", "maxSkew: 2", 1))},
}

// drawn tries random cases, more of them than other tests if some mistake is still unnoticed.
func drawn(t *testing.T, most int, try func(g generator) (noticedAll bool)) {
	least := trials.Of(t, most)
	for i := range most {
		g := generator{rand.New(rand.NewPCG(uint64(trials.First(t)+i), 77))}
		if try(g) && i >= least {
			return
		}
	}
}

// TestMistakesAreNoticed plants a mistake in each filter of the search. For each, the checker refuses
// an answer about some random cluster, or the answer differs from the result of all runs.
func TestMistakesAreNoticed(t *testing.T) {
	noticed := map[string][2]int{}
	try := func(nodes, manifests string, mistakes ...string) {
		m, _ := modelOf(t, nodes, manifests)
		want, ok := enumerate(m, 5000)
		for _, mistake := range mistakes {
			n := noticed[mistake]
			if !ok || mistake != "none" && n != [2]int{} {
				continue
			}
			m, _ := modelOf(t, nodes, manifests)
			m.Run().OnRefusal = nil
			switch d, planted := search.Mistaken(m, mistake); {
			case !planted:
			case len(m.Run().Refused) > 0:
				n[0]++
			case d.Exact && disagrees(d, want) != "":
				n[1]++
			}
			noticed[mistake] = n
		}
	}
	for mistake, c := range few {
		try(c[0], c[1], mistake, "none")
	}
	drawn(t, 1500, func(g generator) bool {
		nodes, manifests := g.filtered()
		try(nodes, manifests, slices.Sorted(maps.Keys(search.Mistakes))...)
		unnoticed := func(mistake string) bool { return mistake != "none" && noticed[mistake] == [2]int{} }
		return !slices.ContainsFunc(slices.Collect(maps.Keys(search.Mistakes)), unnoticed)
	})
	for mistake := range search.Mistakes {
		n := noticed[mistake]
		t.Logf("%s: %d refused by the checker, %d differ from enumeration", mistake, n[0], n[1])
		if (n[0]+n[1] > 0) == (mistake == "none") {
			t.Errorf("%s: nothing notices it, or without a mistake something is refused", mistake)
		}
	}
}

// TestMistakesInLossesAreNoticed plants a mistake in each step of the search of losses. For each, the checker
// refuses an answer about some random cluster.
func TestMistakesInLossesAreNoticed(t *testing.T) {
	noticed := map[string]int{}
	try := func(s setting, pin string, again ...certificate.Loss) {
		for _, mistake := range slices.Sorted(maps.Keys(search.LossMistakes)) {
			if mistake != "none" && noticed[mistake] > 0 {
				continue
			}
			m, _ := modelOf(t, s.before(), s.manifests())
			m.Workloads[0].Pin = pin
			l := certificate.Loss{Nodes: s.names(), Meaning: s.meaning}
			if slices.ContainsFunc(m.Workloads, l.Tolerates) {
				continue
			}
			if err := search.MistakenLoss(m, l, again, mistake); err != nil && !errors.Is(err, certificate.ErrTooLong) {
				noticed[mistake]++
			}
		}
	}
	try(setting{
		nodes:  []string{room(0, zoneKey+"=a", 1), room(1, zoneKey+"=b", 1)},
		shapes: []shape{{"StatefulSet", "web", 1, ""}}, lost: []bool{true, false}, meaning: certificate.Gone,
	}, zoneKey)
	var square []string
	for i, z := range "aabb" {
		square = append(square, room(i, fmt.Sprintf("%s=n%d,%s=%c", hostKey, i, zoneKey, z), 4))
	}
	const honor = ", nodeTaintsPolicy: Honor"
	try(setting{
		nodes: square, lost: []bool{true, false, false, false}, meaning: certificate.Drained,
		shapes: []shape{{"Deployment", "web", 4, spread(tsc(zoneKey, sel("app=web"), honor), tsc(hostKey, sel("app=web"), honor))}},
	}, "", certificate.Loss{Meaning: certificate.Drained})
	drawn(t, 1500, func(g generator) bool {
		try(g.losing(), "")
		return len(noticed) == len(search.LossMistakes)-1
	})
	t.Log(noticed)
	for mistake := range search.LossMistakes {
		if (noticed[mistake] > 0) == (mistake == "none") {
			t.Errorf("%s: nothing notices it, or without a mistake something is refused", mistake)
		}
	}
}

// TestMistakesInRolloutsAreNoticed plants a mistake in each limit of the search of rollouts. For each, the
// checker refuses an answer about some random rollout.
func TestMistakesInRolloutsAreNoticed(t *testing.T) {
	noticed := map[string]int{}
	try := func(nodes, spec string, replicas int, r certificate.Rollout, edit func(w *workload.Workload)) {
		for _, mistake := range slices.Sorted(maps.Keys(search.RollMistakes)) {
			if mistake != "none" && noticed[mistake] > 0 {
				continue
			}
			text := rollout{spec: spec, replicas: replicas}
			m, _ := modelOf(t, nodes, text.generation("web-old")+text.generation("web-new"))
			r := r
			r.Old, r.Fresh = m.Workloads[1], m.Workloads[0] // by name
			edit(r.Old)
			edit(r.Fresh)
			if err := search.MistakenRoll(m, r, mistake); err != nil && !errors.Is(err, certificate.ErrTooLong) {
				noticed[mistake]++
			}
		}
	}
	zoned := room(0, zoneKey+"=a,"+hostKey+"=n0", 1) + room(1, zoneKey+"=b,"+hostKey+"=n1", 1)
	same := func(*workload.Workload) {}
	try(zoned, "", 1, certificate.Rollout{Surge: 1}, func(w *workload.Workload) { w.Attached = diag.Always })
	try(zoned, "", 1, certificate.Rollout{Surge: 1}, func(w *workload.Workload) { w.SharedPin, w.Pin = true, zoneKey })
	drawn(t, 1500, func(g generator) bool {
		nodes := ""
		for i := range 2 + g.IntN(3) {
			nodes += room(i, fmt.Sprintf("%s=n%d,%s=%s", hostKey, i, zoneKey, g.pick("a", "b")), 1+g.IntN(3))
		}
		both, each := zonal()
		r, pace := certificate.Rollout{Empty: g.chance(20), Whole: g.chance(20)}, paces[g.IntN(len(paces))]
		replicas := 1 + g.IntN(4)
		r.Surge, r.Unavailable = pace.surge, min(pace.unavailable, replicas)
		try(nodes, g.pick("", apart(hostKey), apart(zoneKey), both, each), replicas, r, same)
		return len(noticed) == len(search.RollMistakes)-1
	})
	t.Log(noticed)
	for mistake := range search.RollMistakes {
		if (noticed[mistake] > 0) == (mistake == "none") {
			t.Errorf("%s: nothing notices it, or without a mistake something is refused", mistake)
		}
	}
}

// crowded returns a random cluster for T16: some nodes are full, others are not eligible, and rules
// of all kinds close nodes and domains.
func (g generator) crowded() (nodes, manifests string) {
	for i := range 6 {
		labels := fmt.Sprintf("%s=n%d,pool=%s,%s=%s", hostKey, i, g.pick("p", "p", "q"), zoneKey, g.pick("a", "b", "c"))
		nodes += sized(i, labels, fmt.Sprintf("pods: %q, cpu: %q", fmt.Sprint(2+g.IntN(3)), fmt.Sprint(2+g.IntN(4))))
	}
	for _, name := range []string{"web", "db", "log"} {
		var antis, spreads []string
		if g.chance(40) {
			antis = append(antis, term(g.pick(hostKey, zoneKey), sel("app="+g.pick("web", "db"))))
		}
		if g.chance(30) {
			spreads = append(spreads, tsc(g.pick(hostKey, zoneKey), g.pick(sel("app="+name), sel("app=db")), ""))
		}
		affs := []string(nil)
		if g.chance(10) {
			affs = append(affs, term(zoneKey, sel("app="+name)))
		}
		spec := strings.TrimPrefix(ruled(antis, affs, spreads), map[bool]string{true: "affinity:\n"}[len(antis)+len(affs) == 0])
		spec += fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("500m", "700m", "1", "2"))
		if g.chance(30) {
			spec += "nodeSelector: {pool: p}\n"
		}
		text := named(name, 1+g.IntN(3), spec)
		if name == "log" && g.chance(60) {
			text = strings.Replace(strings.Replace(text, "kind: Deployment", "kind: DaemonSet", 1), text[strings.Index(text, "  replicas:"):strings.Index(text, "  selector:")], "", 1)
		}
		manifests += text
	}
	return nodes, manifests
}

// TestMistakesInCountsAreNoticed plants a mistake in each number by which T16 shows that a pod always
// finds a node. The checker refuses what it leads to.
func TestMistakesInCountsAreNoticed(t *testing.T) {
	refused, confirmed := map[string]int{}, map[string]int{}
	try := func(nodes, manifests string) {
		m, _ := modelOf(t, nodes, manifests)
		m.Run().OnRefusal = nil
		about := search.NewRoster(m, m.Workloads, nil)
		for mistake := range search.Miscounts {
			for _, key := range []string{hostKey, zoneKey} {
				k := about.Kinds(m.Workloads[0], 9, key)
				for _, b := range append(k.Losses(), search.AnyNode, search.NoLoss) {
					for _, meaning := range []certificate.Meaning{certificate.Gone, certificate.Unreachable, certificate.Drained} {
						for _, w := range m.Workloads {
							if w.Kind.PerNode() {
								continue
							}
							says, holds := search.Miscounted(k.Room(w, w.Count.N), b, certificate.Loss{Meaning: meaning}, about, w.Count.N, mistake)
							if says && !holds {
								refused[mistake]++
							} else if says {
								confirmed[mistake]++
							}
						}
					}
				}
			}
		}
	}
	nodes := room(0, zoneKey+"=b,"+hostKey+"=n0", 1)
	for i := range 5 {
		nodes += room(i+1, fmt.Sprintf("%s=a,%s=n%d", zoneKey, hostKey, i+1), 2)
	}
	try(nodes, named("web", 1, spread(tsc(zoneKey, sel("app=db"), "")))+named("db", 1, "")) // pods of others count, and may fill a zone
	drawn(t, 1500, func(g generator) bool {
		try(g.crowded())
		return len(refused) == len(search.Miscounts)-1
	})
	t.Log(refused, confirmed)
	for mistake := range search.Miscounts {
		if (refused[mistake] > 0) == (mistake == "none") || confirmed[mistake] == 0 {
			t.Errorf("%s: nothing notices it, or without a mistake something is refused: %d, %d", mistake, refused[mistake], confirmed[mistake])
		}
	}
}
