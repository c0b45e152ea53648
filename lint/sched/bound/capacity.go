package bound

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Limited names the rule that imposes a limit.
type Limited string

// The rules that limit how many pods of one workload can be placed.
const (
	ByAntiAffinity Limited = "anti-affinity"
	BySpread       Limited = "spread"
	ByHostPort     Limited = "host-port"
	ByRoom         Limited = "room"
	// ByClaim means that all pods use a claim that one pod can use at a time (R-N36).
	ByClaim Limited = "claim"
)

// Limit states how many of a workload's pods one rule allows. It is an upper bound for every
// scheduling order, node choice and pool size.
type Limit struct {
	By Limited
	// Terms lists the terms that impose the limit. It is empty for ByHostPort and ByRoom.
	Terms []*model.Term
	// Pods is the required number of pods. Most is the number that can be placed.
	Pods, Most int
	// Exceeded is set if the required pods cannot all be placed. Grows is set if they can all be
	// placed only after pools have grown.
	Exceeded, Grows bool
	// AtCount is the number of pods that can be placed before any pool grows.
	AtCount int
	// Domains counts the distinct values of the key on eligible nodes, Eligible counts the eligible
	// nodes, and Nodes counts all nodes.
	Domains, Eligible, Nodes int
	// Cause, EligibleDomains, Smallest and SmallestDomain explain a spread limit.
	Cause           string
	EligibleDomains int
	Smallest        int
	SmallestDomain  string
	// Binding is the resource that is the bottleneck on most nodes.
	Binding corev1.ResourceName
	// Growth lists the assumed pool sizes, or is nil if no pool was grown.
	Growth []model.PoolSize
	// Together is another rule that contributes to the limit, or the zero Companion.
	Together Companion
}

// CompanionKind names a rule that limits the pods in addition to the Limit's own rule.
type CompanionKind string

// The kinds of companions.
const (
	// WithAntiAffinity means that required anti-affinity also keeps the pods apart.
	WithAntiAffinity CompanionKind = "anti-affinity"
	// WithAffinity means that required affinity keeps all pods in one domain.
	WithAffinity CompanionKind = "affinity"
)

// Companion is a second rule that contributes to a Limit. Keys holds the rule's topology keys. The
// zero Companion means that there is no second rule.
type Companion struct {
	Kind CompanionKind
	Keys []string
}

// slack returns how many more pods could be placed. It is negative if not all required pods can be
// placed.
func (l *Limit) slack() int { return l.Most - l.Pods }

// Problem holds the workload rules that Capacity considers.
type Problem struct {
	m       *model.Model
	G       *model.Group
	ports   bool
	anti    []*model.Term
	claims  []*model.Term // for claims that one pod can use at a time
	Keys    []string      // topology keys of anti and claims
	self    []string      // keys of required self-affinity
	Spreads []*model.Term
}

// lastProblem caches the most recent Problem, because consecutive questions are often about one
// group.
type lastProblem struct{ *Problem }

// ProblemOf returns the Problem of a group, cached until the next group.
func ProblemOf(m *model.Model, g *model.Group) *Problem {
	last := model.Keep(m, func() *lastProblem { return &lastProblem{} })
	if last.Problem == nil || last.G != g {
		last.Problem = newProblem(m, g)
	}
	return last.Problem
}

func newProblem(m *model.Model, g *model.Group) *Problem {
	p := &Problem{m: m, G: g, ports: len(g.HostPorts) > 0}
	if g.Spec.NodeName != "" {
		return p // the kubelet checks none of the terms (R-P8)
	}
	for t := range g.Hard(model.AntiAffinity) {
		if m.Peer(t, g.Workload, g.Workload) != model.Yes {
			continue
		}
		if !slices.Contains(p.Keys, t.Key) { // a claim comes last
			p.Keys = append(p.Keys, t.Key)
		}
		if !t.Declared() {
			p.claims = append(p.claims, t)
			continue
		}
		p.anti = append(p.anti, t)
	}
	if !g.Kind.PerNode() {
		p.self = selfKeys(m, g)
	}
	p.Spreads = slices.Collect(g.Hard(model.Spread))
	return p
}

// pods returns the required number of pods. With a HorizontalPodAutoscaler, only its minimum is
// certain (R-W18). A DaemonSet has one pod per eligible node.
func (p *Problem) pods(eligible int) int {
	if p.G.Kind.PerNode() {
		return eligible
	}
	return model.Certain(p.G.Workload)
}

// Capacity returns one limit for each hard rule of a workload. The workload must be judged and have
// at least one eligible node. The rules may be satisfiable one by one but not together. Capacity
// then adds a limit for the rule that fails together with the others.
func Capacity(m *model.Model, w *workload.Workload) []Limit {
	p := ProblemOf(m, m.Groups[w])
	var best []Limit
	base := p.at(m.Views[0], nil)
	for _, v := range m.Views {
		limits := base
		if v != m.Views[0] {
			limits = p.at(v, base)
		}
		for i, l := range limits {
			if i == len(best) {
				best = append(best, l)
			} else if l.slack() > best[i].slack() {
				best[i] = l
			}
		}
	}
	for i := range best {
		best[i].AtCount = base[i].Most
		best[i].Exceeded = best[i].slack() < 0
		best[i].Grows = !best[i].Exceeded && base[i].slack() < 0
		if !best[i].Grows && !best[i].Exceeded {
			best[i].Growth = nil
		}
	}
	// Keep the limit for all rules together only if no other limit is exceeded.
	last := len(best) - 1
	alone := best[:last]
	if !best[last].Exceeded && !best[last].Grows || slices.ContainsFunc(alone, func(l Limit) bool { return l.Exceeded }) {
		return alone
	}
	for i := range alone { // the blamed rule may already be listed by itself, so replace it
		if alone[i].By == best[last].By && slices.Equal(alone[i].Terms, best[last].Terms) {
			alone[i] = best[last]
			return alone
		}
	}
	return best
}

// at computes the limits for one cluster size, in a fixed order. The last limit is for all rules
// together.
func (p *Problem) at(v *model.View, base []Limit) []Limit {
	w := p.G.Workload
	eligible := set(p.m, v, p.G, mode{})
	roomy, open := set(p.m, v, p.G, mode{fit: true, room: true}), set(p.m, v, p.G, mode{fit: true})
	frame := Limit{Pods: p.pods(len(roomy.sites)), Eligible: len(roomy.sites), Nodes: len(v.Nodes), Growth: v.Growth()}
	if base != nil {
		one := growable(v, func(*topology.Node) int { return 1 })
		frame.Eligible, frame.Nodes = min(frame.Eligible, base[0].Eligible+one), min(frame.Nodes, base[0].Nodes+one)
	}
	var limits []Limit
	perNode := func(by Limited) func(*topology.Node) int { // the maximum number of pods that an added node can hold under a rule
		return func(n *topology.Node) int {
			most, _ := model.Fits(n, p.G.Requests)
			if by == ByHostPort || p.ports && by != ByRoom || by == ByAntiAffinity && slices.ContainsFunc(p.Keys, func(k string) bool { return model.Carries(n.Labels, []string{k}) }) {
				most = min(most, 1)
			}
			return most
		}
	}
	// Removing a pod never breaks a hereditary rule. An upper bound is therefore the number of pods
	// that fit on the declared nodes plus the number that added nodes can hold. This sum can be
	// lower than the view's bound, because the view lets every zone of a pool grow to the pool's
	// maximum.
	add := func(l Limit, by Limited, terms []*model.Term, most int, hereditary bool) {
		l.By, l.Terms, l.Most = by, terms, most
		if base != nil && hereditary {
			l.Most = min(l.Most, base[len(limits)].Most+growable(v, perNode(by)))
			l.Domains = min(l.Domains, base[len(limits)].Domains+growable(v, func(*topology.Node) int { return 1 }))
		}
		if v.Partial {
			l.Most = model.Unbounded
		}
		limits = append(limits, l)
	}
	if p.ports {
		add(frame, ByHostPort, nil, len(eligible.sites), true)
	}
	if !w.Kind.PerNode() {
		l := frame
		l.Binding = p.binding(v)
		add(l, ByRoom, nil, roomy.apart(nil), true)
	}
	if len(p.anti) > 0 {
		l := frame
		l.Domains = len(roomy.room(p.Keys[0], nil))
		add(l, ByAntiAffinity, p.anti, open.apart(p.Keys[:len(p.Keys)-min(1, len(p.claims))]), true)
	}
	if len(p.claims) > 0 {
		add(frame, ByClaim, p.claims[:1], 1, false)
		limits[len(limits)-1].Most = 1 // no added node changes this
	}
	for _, t := range p.Spreads {
		l := p.spread(frame, v, t, mode{fit: true}, nil)
		add(l, BySpread, l.Terms, l.Most, false)
	}
	all := p.together(v, frame, limits)
	add(all, all.By, all.Terms, all.Most, len(p.Spreads) == 0)
	return limits
}

// growable returns the maximum number of pods that the nodes added to the view's pools can hold.
func growable(v *model.View, perNode func(*topology.Node) int) int {
	sum, seen := 0, map[*topology.Pool]bool{}
	for i, from := range v.From {
		n := v.Nodes[i]
		if from >= 0 || seen[n.Pool] {
			continue
		}
		seen[n.Pool] = true
		extra := n.Pool.Max - n.Pool.Count
		if each := perNode(n); each >= model.Unbounded/max(1, extra) {
			return model.Unbounded
		} else {
			sum += each * extra
		}
	}
	return min(sum, model.Unbounded)
}

// binding returns the resource that is the bottleneck on most eligible nodes.
func (p *Problem) binding(v *model.View) corev1.ResourceName {
	e := p.m.Eligible(p.G.Workload)
	count := map[corev1.ResourceName]int{}
	for i, n := range v.Nodes {
		if v.Passes(e, i).All() {
			if _, binds := model.Fits(n, p.G.Requests); binds != "" {
				count[binds]++
			}
		}
	}
	if len(count) == 0 {
		return ""
	}
	return slices.MinFunc(slices.Collect(maps.Keys(count)), func(a, b corev1.ResourceName) int {
		return cmp.Or(count[b]-count[a], strings.Compare(string(a), string(b)))
	})
}

// spread returns the limit that one hard spread constraint imposes.
func (p *Problem) spread(l Limit, v *model.View, t *model.Term, how mode, keys []string) Limit {
	rule := p.m.SpreadRule(v, p.G, t)
	l.By, l.Terms, l.Most = BySpread, []*model.Term{t}, model.Unbounded
	l.EligibleDomains = len(rule.Eligible)
	how.keys = p.G.KeysID
	passing := set(p.m, v, p.G, how)
	l.Domains = len(passing.room(t.Key, nil))
	switch {
	case len(passing.sites) == 0:
		l.Cause, l.Most = "missing-key", 0
	case !rule.Counts:
		l.Cause = "skew"
	default:
		l.Cause = "skew"
		if len(rule.Eligible) < rule.Term.MinDomains() {
			l.Cause = "min-domains"
		}
		l.Most, l.Smallest, l.SmallestDomain = bound(&rule, passing, keys)
	}
	return l
}

// together returns the limit that all rules impose together. It attributes the limit to one rule.
// Without that rule, the pods would fit.
func (p *Problem) together(v *model.View, frame Limit, alone []Limit) Limit {
	full, blamed := p.bound(v, p.Keys, p.self, p.Spreads)
	l := frame
	l.By, l.Most = ByRoom, full
	if full >= frame.Pods {
		return l
	}
	without := func(keys, self []string, spreads []*model.Term) bool {
		most, _ := p.bound(v, keys, self, spreads)
		return most >= frame.Pods
	}
	pick := func(by Limited, terms []*model.Term) Limit {
		for _, a := range alone {
			if a.By == by && (by != BySpread || slices.Equal(a.Terms, terms)) {
				l = a
			}
		}
		l.By, l.Terms, l.Most = by, terms, full
		return l
	}
	switch {
	case blamed != nil && without(p.Keys, p.self, nil):
		l = pick(BySpread, []*model.Term{blamed})
		detail := p.spread(frame, v, blamed, mode{fit: true, room: true, ports: p.ports}, p.Keys)
		l.Cause, l.Smallest, l.SmallestDomain, l.Domains, l.EligibleDomains = detail.Cause, detail.Smallest, detail.SmallestDomain, detail.Domains, detail.EligibleDomains
		if len(p.anti) > 0 {
			l.Together = Companion{WithAntiAffinity, p.Keys}
		}
	case len(p.claims) > 0 && without(p.Keys[:len(p.Keys)-1], p.self, p.Spreads):
		l = pick(ByClaim, p.claims[:1])
	case len(p.anti) > 0:
		l = pick(ByAntiAffinity, p.anti)
	case p.ports:
		l = pick(ByHostPort, nil)
	default:
		l = pick(ByRoom, nil)
	}
	if len(p.self) > 0 && without(p.Keys, nil, p.Spreads) {
		l.Together = Companion{WithAffinity, p.self}
	}
	return l
}

// bound returns an upper bound on how many pods fit under all given rules. blamed is the spread
// constraint that imposes the bound, or nil.
func (p *Problem) bound(v *model.View, keys, self []string, spreads []*model.Term) (most int, blamed *model.Term) {
	how := mode{fit: true, room: true, ports: p.ports}
	if len(spreads) > 0 {
		how.keys = p.G.KeysID
	}
	for _, group := range pinned(set(p.m, v, p.G, how), self) {
		here, by := group.apart(keys), (*model.Term)(nil)
		for _, t := range spreads {
			rule := p.m.SpreadRule(v, p.G, t)
			if !rule.Counts {
				continue
			}
			if b, _, _ := bound(&rule, group, keys); b < here {
				here, by = b, t
			}
		}
		if here > most {
			most, blamed = here, by
		} else if most == 0 && blamed == nil {
			blamed = by
		}
	}
	return most, blamed
}
