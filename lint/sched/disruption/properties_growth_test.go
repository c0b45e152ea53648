package disruption_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// elastic is a sample whose nodes come from pools that may grow.
type elastic struct {
	sample
	pools []elasticPool
}

// elasticPool is a pool with a number of nodes in each zone, or without zones. It may gain at most
// `extra` nodes in all zones together.
type elasticPool struct {
	box
	zones map[string]int
	extra int
}

// text formats the pool with additional nodes in some zones, and with a maximum that allows
// `grows` further nodes.
func (p elasticPool) text(more map[string]int, grows int) string {
	labels, room := "pool: \""+p.pool+"\"", []string{}
	if p.rack != "" {
		labels += ", " + keys[rack] + ": " + p.rack
	}
	if p.cpu >= 0 {
		room = append(room, fmt.Sprintf("cpu: %q", strconv.Itoa(p.cpu)))
	}
	if p.box.pods >= 0 {
		room = append(room, fmt.Sprintf("pods: %q", strconv.Itoa(p.box.pods)))
	}
	taints, sum, zones := "", 0, []string{}
	if p.taint {
		taints = "{key: t, value: v, effect: NoSchedule}"
	}
	for _, z := range slices.Sorted(maps.Keys(p.zones)) {
		sum += p.zones[z] + more[z]
		zones = append(zones, fmt.Sprintf("%s: %d", z, p.zones[z]+more[z]))
	}
	size := fmt.Sprintf("zones: {%s}", strings.Join(zones, ", "))
	if _, bare := p.zones[""]; bare {
		size = fmt.Sprintf("count: %d", sum)
	}
	return fmt.Sprintf("- {name: %s, %s, max: %d, labels: {%s}, taints: [%s], allocatable: {%s}}\n", p.name, size, min(sum+grows, topology.Unbounded), labels, taints, strings.Join(room, ", "))
}

const nodeTopology = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"

func (e elastic) declared() string {
	text := nodeTopology
	for _, p := range e.pools {
		text += p.text(nil, p.extra)
	}
	return text
}

// sizes returns the topologies of all sizes, starting with the declared size.
func (e elastic) sizes() []string {
	all := []string{nodeTopology}
	for _, p := range e.pools {
		var longer []string
		for _, text := range all {
			for _, more := range p.growths() {
				longer = append(longer, text+p.text(more, 0))
			}
		}
		all = longer
	}
	return all
}

// growths returns the ways to distribute up to `extra` nodes over the zones.
func (p elasticPool) growths() []map[string]int {
	all := []map[string]int{{}}
	for _, z := range slices.Sorted(maps.Keys(p.zones)) {
		var longer []map[string]int
		for _, g := range all {
			sum := 0
			for _, k := range g {
				sum += k
			}
			for k := range p.extra - sum + 1 {
				c := maps.Clone(g)
				c[z] = k
				longer = append(longer, c)
			}
		}
		all = longer
	}
	return all
}

// elastic returns a random elastic sample that has few sizes.
func (g generator) elastic(simple bool) elastic {
	for {
		e := elastic{}
		for i := range 1 + g.IntN(3) {
			p := elasticPool{box: box{name: fmt.Sprintf("p%d", i), pool: g.pick("p", "p", "q"), cpu: -1, pods: -1}, zones: map[string]int{}}
			p.taint = g.chance(15)
			p.rack = g.pick("", "r", "s")
			if g.chance(50) {
				p.cpu = 1 + g.IntN(4)
			}
			if g.chance(30) {
				p.box.pods = 1 + g.IntN(3)
			}
			for range 1 + g.IntN(2) {
				p.zones[g.pick("a", "b", "c")] = []int{0, 1, 1, 2}[g.IntN(4)]
			}
			if g.chance(15) {
				p.zones = map[string]int{"": g.IntN(3)}
			}
			p.extra = []int{0, 1, 1, 2, 3}[g.IntN(5)]
			e.pools = append(e.pools, p)
		}
		s := g.sample(g.pick("Deployment", "Deployment", "Deployment", "Deployment", "StatefulSet", "DaemonSet"))
		e.loads = s.loads[:min(len(s.loads), 1+g.IntN(3))]
		for i := range e.loads {
			if simple {
				e.loads[i].rules = e.loads[i].rules[:min(1, len(e.loads[i].rules))]
			}
		}
		if simple && g.chance(75) {
			g.strand(&e)
		}
		if p := e.pools[0]; g.chance(12) && len(elastic{pools: e.pools[:1]}.nodesAt()) > 0 {
			l := g.load("Pod", "lone", []string{"web", "db"}, 1)
			zone := elastic{pools: e.pools[:1]}.nodesAt()[0]
			if l.node = fmt.Sprintf("%s-%s-0", p.name, zone); zone == "" {
				l.node = p.name + "-0"
			}
			e.running = append(e.running, l)
		}
		if n := len(e.sizes()); n < 2 || n > 10 || len(e.nodesAt()) == 0 && !g.chance(10) {
			continue
		}
		return e
	}
}

// strand changes a sample so that growth may invalidate an answer. It makes the nodes of an empty
// pool a domain that the pods cannot use, or gives them too little room for the pods after the
// first, or puts them where other pods block the pods.
func (g generator) strand(e *elastic) {
	late := elasticPool{box: box{name: "late", pool: "q", rack: g.pick("r", "t"), cpu: -1, pods: -1}, extra: 1 + g.IntN(2)}
	late.zones = map[string]int{g.pick("a", "c", "c"): 0}
	e.pools = e.pools[:min(2, len(e.pools))]
	for i := range e.pools {
		p := &e.pools[i]
		for z, n := range p.zones {
			p.zones[z] = max(1, n)
		}
		p.pool, p.taint, p.cpu, p.box.pods, p.extra = "p", false, -1, -1, g.IntN(4)/3
	}
	web := &e.loads[0]
	web.replicas, web.tolerates, web.pool, web.cpu, web.port = 2+g.IntN(2), false, "", 0, false
	own := rule{use: "spread", key: keys[g.IntN(3)], labels: "app: web", skew: 1}
	switch shape := g.IntN(4); {
	case shape == 0:
		late.taint = true
		web.rules = []rule{own}
	case shape == 1:
		own.more, web.pool = g.pick("", ", nodeAffinityPolicy: Ignore", ", nodeAffinityPolicy: Ignore"), "p"
		web.rules = []rule{own}
	case shape == 2 || len(e.loads) == 1:
		own.use, late.box.pods = "aff", 1
		web.rules = []rule{own}
	default:
		e.pools[0].zones = map[string]int{"a": 1}
		if last := &e.pools[len(e.pools)-1]; len(e.pools) > 1 {
			last.pool, last.zones = "q", map[string]int{"b": 1}
		}
		late.zones = map[string]int{"a": 0}
		db := &e.loads[1]
		web.rules, db.rules = []rule{{use: "anti", key: keys[zone], labels: "app: " + db.name}}, nil
		web.pool, db.pool = "p", "q"
	}
	e.pools = append(e.pools, late)
}

// nodesAt returns the zones that have nodes at the declared size.
func (e elastic) nodesAt() (zones []string) {
	for _, p := range e.pools {
		for _, z := range slices.Sorted(maps.Keys(p.zones)) {
			if p.zones[z] > 0 {
				zones = append(zones, z)
			}
		}
	}
	return zones
}

// said maps a topic to an answer about a cluster. The topics are the verdict on each workload and
// its verdict by the rules alone, or the answers about changes.
type said map[string]string

const (
	yes, no, may, open = "yes", "no", "may", "unknown"
)

var inWords = map[diag.Outcome]string{diag.Always: yes, diag.Never: no, diag.Sometimes: may, diag.Unknown: open, diag.None: "none", "": "unfit"}

func placing(m *model.Model) said {
	d := search.Decide(m, search.Options{Steps: 400_000})
	all := said{"whole": inWords[d.Verdict], "whole by rules": inWords[d.RulesVerdict]}
	daemons := slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return w.Kind.PerNode() })
	if !daemons { // further nodes bring further pods
		all["whole placed"] = bounds(d.MinPlaced, d.MaxPlaced, d.Exact)
	}
	for _, w := range d.Workloads {
		name := w.Workload.Object.Name
		all[name], all[name+" by rules"] = inWords[w.Verdict], inWords[w.RulesVerdict]
		if !daemons {
			all[name+" placed"] = bounds(w.MinPlaced, w.MaxPlaced, false)
		}
	}
	return all
}

// bounds writes bounds on a number of placed pods, and whether both are met.
func bounds(least, most int, exact bool) string {
	return fmt.Sprintf("%d to %d, exact: %t", least, most, exact)
}

// beyond reports whether some number of placed pods at one size is not within bounds for all sizes.
func beyond(claim, at string) bool {
	var least, most, hasLeast, hasMost int
	var exact, ignored bool
	fmt.Sscanf(claim, "%d to %d, exact: %t", &least, &most, &ignored)
	if n, _ := fmt.Sscanf(at, "%d to %d, exact: %t", &hasLeast, &hasMost, &exact); n < 3 {
		return false
	}
	return hasLeast > most || hasMost < least || exact && (hasMost > most || hasLeast < least)
}

func changing(j *disruption.Judge, m *model.Model) said {
	all := said{}
	for _, w := range m.Workloads {
		name := w.Object.Name
		for _, r := range j.Rollouts(w) {
			all[name+" rolls"] = inWords[r.Verdict]
		}
		all[name+" drains"], all[name+" migrates"] = inWords[j.Drain(w).Answer], inWords[j.Migration(w).Answer]
		all[name+" scales"] = inWords[j.Scaling(w).Answer]
		for _, key := range []string{keys[host], keys[zone]} {
			for _, s := range j.Survives(w, key) {
				places := s.Nodes()
				if key != keys[host] {
					places = []string{s.Value}
				}
				for _, p := range places {
					all[fmt.Sprintf("%s survives %s of %s", name, s.Meaning, p)] = inWords[s.Verdict]
				}
			}
		}
	}
	return all
}

// refutes reports whether an answer at one size refutes an answer for all sizes.
func refutes(claim, at string) bool {
	return claim == yes && at != yes && at != open && at != "none" || claim == no && (at == yes || at == may)
}

// refutesMay reports the same of an answer about placement that is neither yes nor no.
func refutesMay(claim, at string) bool { return claim == may && (at == yes || at == no) }

// tally holds the number of samples in which growth makes some answer worse or better, and of the
// answers yes and no.
type tally struct {
	worse, better, yes, no int
	exact                  bool // may holds at every size, too
}

func (e elastic) try(t *testing.T, ask func(nodes string) said, count *tally) {
	t.Helper()
	claims := ask(e.declared())
	var at []said
	for _, size := range e.sizes() {
		at = append(at, ask(size))
	}
	worse, better := false, false
	for about, claim := range claims {
		for i, s := range at {
			has, ok := s[about]
			if !ok {
				continue
			}
			worse = worse || at[0][about] == yes && (has == no || has == may)
			better = better || at[0][about] == no && (has == yes || has == may)
			if refutes(claim, has) || beyond(claim, has) || count.exact && refutesMay(claim, has) {
				t.Fatalf("%s: %s, but %s with\n%s\n%s%s", about, claim, has, e.sizes()[i], e.declared(), e.manifests())
			}
		}
		if claim == yes {
			count.yes++
		}
		if claim == no {
			count.no++
		}
	}
	if worse {
		count.worse++
	}
	if better {
		count.better++
	}
}

// TestGrowthRefutesNoPlacement checks that no decision at any size refutes an answer about the
// placement of pods when pools may grow.
func TestGrowthRefutesNoPlacement(t *testing.T) {
	count := tally{exact: true}
	for i := range trials.Seeds(t, trials.Of(t, 250)) {
		e := newGenerator(i, 71).elastic(i%5 > 0)
		e.try(t, func(nodes string) said {
			_, m := judge(t, nodes, e.manifests())
			return placing(m)
		}, &count)
	}
	t.Logf("growing makes some answer worse in %d samples and better in %d; %d are yes and %d no", count.worse, count.better, count.yes, count.no)
	if least := trials.Share(t, 10); count.worse < least || count.better < least || count.yes < 10*least || count.no < 2*least {
		t.Error("too few samples tell anything")
	}
}

// TestUnboundedPools checks the same for pools that may have any size, at some small sizes and a
// large one (T32).
func TestUnboundedPools(t *testing.T) {
	no := 0
	for i := range trials.Seeds(t, trials.Of(t, 60)) {
		e := newGenerator(i, 73).elastic(i%5 > 0)
		unbounded, large := nodeTopology, nodeTopology
		for _, p := range e.pools {
			more := map[string]int{}
			for z := range p.zones {
				more[z] = 7
			}
			unbounded, large = unbounded+p.text(nil, topology.Unbounded), large+p.text(more, 0)
		}
		_, m := judge(t, unbounded, e.manifests())
		claims := placing(m)
		for _, size := range append(e.sizes(), large) {
			_, at := judge(t, size, e.manifests())
			for about, has := range placing(at) {
				if refutes(claims[about], has) || beyond(claims[about], has) || refutesMay(claims[about], has) {
					t.Fatalf("%s: %s, but %s with\n%s\n%s%s", about, claims[about], has, size, unbounded, e.manifests())
				}
			}
		}
		for _, claim := range claims {
			if claim == "no" {
				no++
			}
		}
	}
	if t.Logf("%d answers are no", no); no < trials.Share(t, 15) {
		t.Error("too few answers are no")
	}
}

// TestGrowthRefutesNoChange checks the same for rollouts, drains, losses, migrations and
// autoscalers.
func TestGrowthRefutesNoChange(t *testing.T) {
	var count tally
	for i := range trials.Seeds(t, trials.Of(t, 40)) {
		g := newGenerator(i, 72)
		e := g.elastic(i%5 > 0)
		scaler := ""
		if g.chance(40) {
			scaler = fmt.Sprintf("---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: s}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: %d}}\n", e.loads[0].replicas+1)
		}
		if g.chance(15) {
			e.loads[0].kind, e.loads[0].replicas, scaler = "VirtualMachine", 1, ""
		}
		e.try(t, func(nodes string) said {
			j, m := judge(t, nodes, e.manifests()+scaler)
			return changing(j, m)
		}, &count)
	}
	t.Logf("growing makes some answer worse in %d samples and better in %d; %d are yes and %d no", count.worse, count.better, count.yes, count.no)
	if least := trials.Share(t, 5); count.worse < least || count.better < least || count.yes < 6*least {
		t.Error("too few samples tell anything")
	}
}
