package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// generator generates random samples.
type generator struct{ *rand.Rand }

func newGenerator(seed, stream int) generator {
	return generator{rand.New(rand.NewPCG(uint64(seed), uint64(stream)))}
}

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// box returns a random node. Most nodes have all labels, and some have little room.
func (g generator) box(i int) box {
	b := box{name: fmt.Sprintf("n%d", i), host: fmt.Sprintf("n%d", i), cpu: -1, pods: -1}
	if !g.chance(8) {
		b.zone = g.pick("a", "b", "c")
	}
	if !g.chance(12) {
		b.rack = g.pick("r", "s")
	}
	b.pool = g.pick("p", "p", "q", "")
	b.taint, b.cordon = g.chance(8), g.chance(4)
	if g.chance(40) {
		b.cpu = 1 + g.IntN(5)
	}
	if g.chance(40) {
		b.pods = 1 + g.IntN(4)
	}
	return b
}

// rules returns random hard terms of a workload about its own pods and the pods of other
// workloads.
func (g generator) rules(own string, names []string) (all []rule) {
	key := func() string { return keys[g.IntN(3)] }
	target := func() string {
		return "app: " + g.pick(own, own, own, own, g.pick(names...), g.pick(names...))
	}
	add := func(use string) {
		r := rule{use: use, key: key(), labels: target(), skew: 1 + g.IntN(4)/3}
		if g.chance(8) || use == "aff" && g.chance(15) {
			r.labels = "all: pods"
		}
		if r.match = g.chance(20); !r.match && use != "spread" {
			r.mismatch = g.chance(8)
		}
		if use == "spread" {
			r.more = g.pick("", "", "", ", minDomains: 2", ", nodeTaintsPolicy: Honor", ", nodeAffinityPolicy: Ignore")
			if slices.ContainsFunc(all, func(o rule) bool { return o.use == use && o.key == r.key }) {
				return // the API accepts one constraint per key
			}
		}
		all = append(all, r)
	}
	for range []int{0, 1, 1, 2}[g.IntN(4)] {
		add("anti")
	}
	for range []int{0, 0, 0, 0, 0, 1, 1, 2}[g.IntN(8)] {
		add("aff")
	}
	for range []int{0, 0, 1, 2}[g.IntN(4)] {
		add("spread")
	}
	return all
}

// load returns a random workload of the given kind.
func (g generator) load(kind, name string, names []string, most int) load {
	l := load{kind: kind, name: name, replicas: 1 + g.IntN(most), rules: g.rules(name, names), tolerates: g.chance(25), port: g.chance(12)}
	if g.chance(15) {
		l.pool = g.pick("p", "q")
	}
	if g.chance(35) {
		l.cpu = 1 + g.IntN(2)
	}
	return l
}

// sample returns a random cluster with a workload of the given kind, which is named web, and up to
// two other workloads.
func (g generator) sample(kind string) sample {
	s := sample{}
	for i := range 3 + g.IntN(3) {
		s.boxes = append(s.boxes, g.box(i))
	}
	names := []string{"web", "db", "cache"}[:1+g.IntN(3)]
	for i, name := range names {
		k, most := kind, 4
		if i > 0 {
			most = 3 - g.IntN(2)
			if k = "Deployment"; g.chance(10) {
				k = "DaemonSet"
			}
		}
		s.loads = append(s.loads, g.load(k, name, names, most))
		if rules := &s.loads[i].rules; i > 0 && g.chance(60) {
			*rules = (*rules)[:min(1, len(*rules))]
		}
	}
	if g.chance(15) {
		l := g.load("Pod", "lone", names, 1)
		l.node = s.boxes[g.IntN(len(s.boxes))].name
		s.running = append(s.running, l)
	}
	return s
}

// tight returns a random cluster whose pods nearly fill the nodes that remain after a loss. Most
// workloads spread over zones.
func (g generator) tight() sample {
	s := sample{}
	zones, free := 2+g.IntN(2), 0
	for i := range zones + g.IntN(3) {
		b := box{name: fmt.Sprintf("n%d", i), host: fmt.Sprintf("n%d", i), zone: string(rune('a' + i%zones)), cpu: 2 + g.IntN(4), pods: -1}
		if g.chance(25) {
			b.memory = (1 + g.IntN(4)) << 10
		}
		b.pool = g.pick("p", "p", "q")
		s.boxes = append(s.boxes, b)
		free += b.cpu
	}
	free = free * (45 + g.IntN(50)) / 100
	for _, name := range []string{"web", "db", "cache"}[:2+g.IntN(2)] {
		l := load{kind: g.pick("Deployment", "Deployment", "StatefulSet"), name: name, replicas: 1 + g.IntN(4), cpu: 1 + g.IntN(3), memory: g.IntN(3)}
		for l.replicas > 1 && l.replicas*l.cpu > free {
			l.replicas--
		}
		if free -= l.replicas * l.cpu; free < 0 {
			break
		}
		if g.chance(15) {
			l.pool = "p"
		}
		switch label := "app: " + g.pick(name, name, name, "db"); {
		case g.chance(55):
			l.rules = []rule{{use: "spread", key: keys[zone], labels: label, skew: 1 + g.IntN(2)}}
			if g.chance(15) {
				l.rules = append(l.rules, rule{use: "spread", key: keys[host], labels: label, skew: 1 + g.IntN(2)})
			}
		case g.chance(30):
			l.rules = []rule{{use: "anti", key: keys[host], labels: label}}
		}
		s.loads = append(s.loads, l)
	}
	return s
}

// settled returns a sample in which the second workload is a DaemonSet whose pods stay where they
// are while others change.
func (g generator) settled(s sample) sample {
	if len(s.loads) > 1 {
		l := &s.loads[1]
		l.kind, l.rules, l.port, l.tolerates = "DaemonSet", nil, false, g.chance(70)
		if g.chance(40) {
			s.loads[0].rules = []rule{{use: "aff", key: keys[g.IntN(3)], labels: "app: " + l.name}}
		}
	}
	return s
}
