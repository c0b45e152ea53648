package bound

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// The functions below are quick checks for the common case that a workload fits. Each true result
// is backed by a placement. A false result is inconclusive.

// capacities holds the data for computing how many of a group's pods fit on each empty declared
// node.
type capacities []supply

// supply holds each node's amount of a resource, and one pod's request.
type supply struct {
	offers []int64
	amount int64
}

// Capacities returns the capacities of the declared nodes for a group's pods.
func Capacities(m *model.Model, g *model.Group) capacities {
	c := append(make(capacities, 0, 1+len(g.Requests)), supply{m.Offers(corev1.ResourcePods, m.Topology.Nodes), 1})
	for i := range g.Requests {
		r := &g.Requests[i]
		if ignores(m, g, r.Name) {
			continue
		}
		c = append(c, supply{m.Offers(r.Name, m.Topology.Nodes), r.Amount})
	}
	return c
}

// At returns how many pods fit on the n-th declared node when it is empty.
func (c capacities) At(n int) int {
	most := int64(model.Unbounded)
	for i := range c {
		if has := c[i].offers[n]; has != math.MaxInt64 && has/c[i].amount < most {
			most = has / c[i].amount
		}
	}
	return int(max(most, 0))
}

// kind is a class of eligible nodes that are equivalent for a group's pods.
type kind struct {
	nodes []int32
	// most is the number of pods that fit on an empty node of this kind.
	most int
}

// kinds returns classes of eligible nodes that are equivalent for up to the given number of a
// group's pods. The classes are ordered by their first node. If key is not empty, the nodes of a
// class are either all in one domain of that key or all in different domains.
func kinds(m *model.Model, p *Problem, pods int, key string) []kind {
	all := classes.Of(m, []*workload.Workload{p.G.Workload}, pods, key).Nodes
	m.Run().Spend(1 + len(all)*(2+len(p.G.Requests))/model.PerStep)
	c, e := Capacities(m, p.G), m.Eligible(p.G.Workload)
	found := make([]kind, 0, len(all))
	for _, nodes := range all {
		first := int(nodes[0])
		if !e.Nodes[first].All() {
			continue
		}
		most := min(c.At(first), pods)
		if p.ports {
			most = min(most, 1)
		}
		found = append(found, kind{nodes, most})
	}
	return found
}

// shared reports whether the nodes of the kind share a domain, instead of each having its own.
func (k *kind) shared(domain []int32) bool {
	return len(k.nodes) == 1 || domain[k.nodes[0]] == domain[k.nodes[1]]
}

// QuickApplies reports whether the quick checks apply to a workload. They do not apply to:
//   - DaemonSets, because their pod count depends on the nodes;
//   - pods whose manifest names their node, because some of their requests do not count;
//   - selectors of labels that come from the node, because the result depends on where pods run;
//   - selectors of labels that differ from pod to pod, because they do not treat all pods alike;
//   - StatefulSets whose pods have volumes in different places.
func QuickApplies(g *model.Group) bool { return g.OrdinalReaches == nil && RulesApplyAlike(g) }

// RulesApplyAlike is QuickApplies, whatever the volumes of the pods are.
func RulesApplyAlike(g *model.Group) bool {
	return g.Spec.NodeName == "" && !g.Kind.PerNode() && !slices.ContainsFunc(g.Terms, func(t *model.Term) bool {
		return t.Hard && (t.Sel.Local() || slices.ContainsFunc(t.Sel.Reqs, func(r model.Requirement) bool {
			return model.Ordinal(r.Key) || r.Key == model.PodName
		}))
	})
}

// FitsSomewhere reports whether some declared node accepts one of the workload's pods. A false
// result is inconclusive.
func FitsSomewhere(m *model.Model, w *workload.Workload) bool {
	g := m.Groups[w]
	return QuickApplies(g) && slices.ContainsFunc(kinds(m, &Problem{m: m, G: g}, 1, ""), func(k kind) bool { return k.most > 0 })
}

// Fits reports whether one pass over the declared nodes places all of the workload's pods. It
// assumes that no other workload is present, and ignores required affinity to other pods. A false
// result is inconclusive.
func Fits(m *model.Model, w *workload.Workload) bool {
	g := m.Groups[w]
	if !QuickApplies(g) {
		return false
	}
	p := ProblemOf(m, g)
	pods := p.pods(0)
	switch {
	case len(p.self) > 0:
		return false
	case len(p.Spreads) == 0:
		return fillsApart(m, p, pods)
	}
	// Every domain of some spread constraint can get an even share of the pods. The other spread constraints and
	// anti-affinity limit the pods on each node. These limits hold whatever pods other nodes have (T22).
	if len(p.Spreads) > mostSpreads {
		return false
	}
	all := kinds(m, p, pods, "")
	for i, t := range p.Spreads {
		limits, ok := nodeLimits(m, p, i)
		if ok && sharesFit(m, p, t, capped(all, limits), pods) {
			return true
		}
	}
	return false
}

// FitsLoosely reports whether the given number of pods fit on the declared nodes, whatever pods of
// the workload were placed and removed before. It returns false if more than one rule keeps the
// pods apart, because a partial placement may then have no completion. A false result is
// inconclusive.
func FitsLoosely(m *model.Model, w *workload.Workload, pods int) bool {
	g := m.Groups[w]
	if !QuickApplies(g) {
		return false
	}
	p := ProblemOf(m, g)
	return len(p.self) == 0 && len(p.Spreads) == 0 && len(g.HardAffinity()) == 0 && len(p.Keys) < 2 && fillsApart(m, p, pods)
}

// fillsApart fills one kind of node after another, with at most one pod per domain of a key.
func fillsApart(m *model.Model, p *Problem, pods int) bool {
	taken := make([]map[int32]bool, len(p.Keys))
	domain := make([][]int32, len(p.Keys))
	for i, key := range p.Keys {
		taken[i] = map[int32]bool{}
		domain[i], _ = m.Numbered(key, m.Topology.Nodes)
	}
	for _, k := range kinds(m, p, pods, "") {
		most, nodes, free := k.most, len(k.nodes), true
		for i := range p.Keys {
			d := domain[i][k.nodes[0]]
			if d < 0 {
				continue
			}
			if most = min(most, 1); k.shared(domain[i]) {
				nodes, free = 1, free && !taken[i][d]
			}
		}
		if !free || most == 0 {
			continue
		}
		for i := range p.Keys {
			taken[i][domain[i][k.nodes[0]]] = true
		}
		if pods -= min(pods, nodes*most); pods == 0 {
			return true
		}
	}
	return pods <= 0
}

// Share reports whether one declared node can hold all of a workload's pods. If the answer is Yes,
// Share also returns how many pods can be lost at once, like TogetherOf. The answer is Maybe if it
// does not follow from each kind of node by itself.
func Share(m *model.Model, w *workload.Workload) (Together, model.Answer) {
	g := m.Groups[w]
	if !QuickApplies(g) {
		return Together{}, model.Maybe
	}
	p := ProblemOf(m, g)
	pods := p.pods(0)
	keys := model.HardKeys(g)
	zone, zones := m.Numbered(corev1.LabelTopologyZone, m.Topology.Nodes)
	seen := make([]bool, zones)
	t := Together{}
	found, zoned := false, false
	for _, k := range kinds(m, &Problem{m: m, G: g}, max(1, pods), corev1.LabelTopologyZone) {
		first := m.Topology.Nodes[k.nodes[0]]
		if k.most == 0 || !model.Carries(first.Labels, keys) {
			continue
		}
		t.Usable += len(k.nodes)
		for _, n := range k.nodes {
			z := zone[n]
			if z >= 0 && !seen[z] {
				seen[z] = true
				t.Zones++
			}
			if z < 0 || k.shared(zone) {
				break
			}
		}
		apart := p.ports
		for _, key := range p.Keys {
			_, labelled := first.Labels[key]
			apart = apart || labelled
		}
		if k.most >= pods && (!apart || pods <= 1) {
			t.Node = cmp.Or(t.Node, first.Name)
			found, zoned = true, zoned || zone[k.nodes[0]] >= 0
		}
	}
	switch {
	case !found:
		return t, model.No
	case slices.ContainsFunc(p.Spreads, func(t *model.Term) bool { // prevents that many pods in one domain
		rule := m.SpreadRule(m.Views[0], g, t)
		return rule.Counts && rule.Foreign == 0 && level(&rule, pods) < min(pods, g.Count.N)
	}):
		return t, model.No
	case len(p.Spreads) > 0 || zones > 0 && !zoned:
		return t, model.Maybe
	}
	t.OnOneNode = pods
	if zoned {
		t.InOneZone = pods
	}
	return t, model.Yes
}

// mostSpreads is the maximum number of spread constraints that Fits checks, each one
// against all the others.
const mostSpreads = 8

// nodeLimit limits the pods in each domain of a key, independently of the other domains. If must is
// set, a node must have the key.
type nodeLimit struct {
	domain []int32
	most   int
	must   bool
}

// nodeLimits returns the limits that anti-affinity and all spread constraints except one impose. ok
// is false if one of these constraints counts other workloads' pods or never rejects a pod.
func nodeLimits(m *model.Model, p *Problem, except int) (all []nodeLimit, ok bool) {
	for _, key := range p.Keys {
		domain, _ := m.Numbered(key, m.Topology.Nodes)
		all = append(all, nodeLimit{domain, 1, false})
	}
	for i, t := range p.Spreads {
		if i == except {
			continue
		}
		if rule := m.SpreadRule(m.Views[0], p.G, t); !rule.Counts || rule.Foreign > 0 {
			return nil, false
		}
		domain, _ := m.Numbered(t.Key, m.Topology.Nodes)
		all = append(all, nodeLimit{domain, int(t.Constraint.MaxSkew), true})
	}
	return all, true
}

// capped applies the limits to how many pods each kind of node can hold. The result is 0 for nodes
// that share a domain, because the scheduling order decides which of them gets the pods.
func capped(all []kind, limits []nodeLimit) []kind {
	left := slices.Clone(all)
	for _, l := range limits {
		shared := map[int32]int{}
		for _, k := range all {
			if d := l.domain[k.nodes[0]]; k.shared(l.domain) {
				shared[d] += len(k.nodes)
			}
		}
		for i := range left {
			k := &left[i]
			switch d := l.domain[k.nodes[0]]; {
			case d < 0 && l.must, d >= 0 && k.shared(l.domain) && shared[d] > 1:
				k.most = 0
			case d >= 0:
				k.most = min(k.most, l.most)
			}
		}
	}
	return left
}

// sharesFit reports whether every domain of a spread has room for its even share on nodes of the
// given kinds.
func sharesFit(m *model.Model, p *Problem, t *model.Term, all []kind, pods int) bool {
	rule := m.SpreadRule(m.Views[0], p.G, t)
	domains := len(rule.Eligible)
	if !rule.Counts || rule.Foreign > 0 || domains == 0 || domains < t.MinDomains() {
		return false
	}
	domain, _ := m.Numbered(t.Key, m.Topology.Nodes)
	share, more := pods/domains, pods%domains
	room := map[int32]int{}
	full, fuller := 0, 0 // domains with room for an even share, and for one more pod
	count := func(room, domains int) {
		if room >= share {
			full += domains
		}
		if room > share {
			fuller += domains
		}
	}
	for _, k := range all {
		switch d := domain[k.nodes[0]]; {
		case d < 0:
		case k.shared(domain):
			room[d] = min(model.Unbounded, room[d]+len(k.nodes)*k.most)
		default:
			count(k.most, len(k.nodes))
		}
	}
	for _, r := range room {
		count(r, 1)
	}
	return (share == 0 || full >= domains) && fuller >= more
}

// Shape returns a string that is equal for workloads that the filters treat alike if each workload
// has the nodes to itself. Such workloads have equal node rules, requests, pod counts, rollout
// strategies and rules about their own pods. They have no rules about other pods. Shape ignores
// requests if each node can hold the given number of pods plus the pods that a rollout adds. It
// returns "" for a workload that cannot be compared in this way.
func Shape(m *model.Model, w *workload.Workload, roll workload.Rollout, pods int) string {
	g := m.Groups[w]
	if len(g.HostPorts) > 0 || !g.Count.Known || g.Running || g.Scale != nil {
		return ""
	}
	request := g.Request
	most := pods + 2*roll.Surge + 2
	if !slices.ContainsFunc(kinds(m, &Problem{m: m, G: g}, most, ""), func(k kind) bool { return k.most < most }) {
		request = ""
	}
	text := fmt.Sprintf("%s %s %d %s/%s %v %d %d %d %v", g.Signature, request, g.Count.N, g.Object.Group(), g.Object.Kind,
		roll.Way, roll.Surge, roll.Unavailable, roll.Preview, roll.Unknown)
	for t := range g.HardTerms() {
		// The term is certain to select all of the group's pods.
		own := t.Sel.Matches(g.Workload, g.Workload, true) == model.Yes && len(t.Sel.Reqs) > 0
		if t.Use == model.Affinity || t.Form() != model.FormSet || !own || len(t.Namespaces) > 0 || t.NamespaceSelector != nil {
			return ""
		}
		text += fmt.Sprintf(" %s %s %v %v", t.Use, t.Key, t.MatchKeys, t.MismatchKeys)
		if c := t.Constraint; c != nil {
			text += fmt.Sprintf(" %d %v %v %v", c.MaxSkew, t.MinDomains(), t.HonorsAffinity(), t.HonorsTaints())
		}
	}
	return text
}

// Together states how many of a workload's pods can share a node or a zone, given its hard rules
// and the declared resources. Usable counts the usable nodes. Zones counts the zones of these
// nodes.
type Together struct {
	Usable, Zones, OnOneNode, InOneZone int
	// Node names one of the nodes that can hold OnOneNode pods.
	Node string
}

// TogetherOf computes how many pods can be lost with one node or zone.
func TogetherOf(m *model.Model, w *workload.Workload) Together { return togetherIn(m, m.Views[0], w) }

// MostTogether returns upper bounds on how many of a workload's pods can share a node and a zone,
// for all sizes of growing pools. More domains lower the limit of a spread. More nodes raise the
// limits of other rules. MostTogether therefore returns the maximum for the smallest and the
// largest pool sizes.
func MostTogether(m *model.Model, w *workload.Workload) (onNode, inZone int) {
	p := ProblemOf(m, m.Groups[w])
	for _, v := range m.Views {
		t := togetherIn(m, v, w)
		onNode, inZone = max(onNode, t.OnOneNode), max(inZone, t.InOneZone)
	}
	if len(m.Views) == 1 {
		return onNode, inZone
	}
	for _, term := range p.Spreads { // below minDomains, only the skew counts
		if len(m.SpreadRule(m.Views[0], p.G, term).Eligible) < term.MinDomains() {
			return w.Count.N, w.Count.N
		}
	}
	if m.Views[1].Partial {
		inZone = w.Count.N
	}
	return onNode, inZone
}

func togetherIn(m *model.Model, v *model.View, w *workload.Workload) Together {
	p := ProblemOf(m, m.Groups[w])
	set := set(m, v, p.G, mode{fit: true, room: true, ports: p.ports, keys: p.G.KeysID})
	pods := p.pods(len(set.sites))
	zones := set.room(corev1.LabelTopologyZone, p.Keys)
	t := Together{Usable: len(set.sites), Zones: len(zones)}
	for i := range set.sites {
		s := &set.sites[i]
		most := s.cap
		if slices.ContainsFunc(p.Keys, func(k string) bool { return model.Carries(s.node.Labels, []string{k}) }) {
			most = min(most, 1)
		}
		if most > t.OnOneNode {
			t.OnOneNode, t.Node = most, s.node.Name
		}
	}
	t.OnOneNode = min(pods, t.OnOneNode)
	for _, most := range zones {
		t.InOneZone = max(t.InOneZone, min(pods, most))
	}
	for _, term := range p.Spreads {
		rule := m.SpreadRule(v, p.G, term)
		if !rule.Counts || rule.Foreign > 0 {
			continue
		}
		level := level(&rule, pods)
		t.OnOneNode = min(t.OnOneNode, level)
		if term.Key == corev1.LabelTopologyZone {
			t.InOneZone = min(t.InOneZone, level)
		}
	}
	return t
}

// level returns the maximum number of pods that one domain can hold once all pods are placed. If a
// domain has m pods, each other domain must have at least m minus the skew.
func level(r *model.SpreadRule, pods int) int {
	skew, others := int(r.Term.Constraint.MaxSkew), len(r.Eligible)-1
	if len(r.Eligible) < r.Term.MinDomains() {
		return skew
	}
	if others <= 0 || pods <= skew {
		return pods
	}
	return (pods + others*skew) / (others + 1)
}
