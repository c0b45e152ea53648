package simulate

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// The weights of the default profile (pkg/scheduler/apis/config/v1/default_plugins.go; R-B1).
// NodeResourcesFit and NodeResourcesBalancedAllocation have a weight of 1.
const (
	taintWeight    = 3
	affinityWeight = 2
	spreadWeight   = 2
	podWeight      = 2
	// mostScore is the highest score that a plugin gives, and requiredWeight the weight of a
	// required affinity term of a pod in place (hardPodAffinityWeight; R-B7).
	mostScore      = 100
	requiredWeight = 1
)

// scorer holds what is common to all scores. Its lists are reused from pod to pod.
type scorer struct {
	// against lists, by workload, the terms of others that raise or lower scores for its pods.
	against map[*workload.Workload][]influence
	// touched lists the workloads whose scoring is not empty.
	touched []*pods
	found   []int32
	total   []int64
	raw     []int64
	ignored []bool
	// kept has the scores for resources, by what pods request.
	kept map[[2]amounts][]keptScore
	logs []float64
}

// keptScore is what the resources of a node score since a move.
type keptScore struct {
	since int
	score int64
}

// mostKept is the maximum number of scores that are kept.
const mostKept = 1 << 20

// influence is what pods in place add to the score of nodes in their domain of a key.
type influence struct {
	from   *pods
	key    string
	weight int64
}

// scoring holds what a workload's pods need to be scored, and what they change for others.
type scoring struct {
	learnt bool
	why    model.Reason
	// avoided counts PreferNoSchedule taints by node, and preferred adds up the weights of
	// preferred node affinity. They are nil if there is none.
	avoided, preferred []int64
	spreads            []*spread
	near               []*field
	kept               []keptScore
	// effects and counts are what one of the pods in place changes.
	effects []effect
	counts  []*spread
}

// field adds up the weights of inter-pod affinity by domain of a key.
type field struct {
	key    string
	domain []int32 // by node
	sum    []int64
}

type effect struct {
	*field
	weight int64
}

func (e *effect) add(node int, by int64) {
	if d := e.domain[node]; d >= 0 {
		e.sum[d] += e.weight * by
	}
}

// spread is a soft spread constraint with the number of pods that it counts. For the hostname key
// these are all pods on a node, for others the pods in a domain (R-B4).
type spread struct {
	host    bool
	skew    int64
	domain  []int32 // by node
	counted []bool  // by node, unless the key is hostname
	// carries marks the nodes with the keys of all constraints. It is nil for default constraints.
	carries []bool
	count   []int32 // by node or domain
	// seen marks, with the number of the last search, the domains of the nodes that it found.
	seen   []int
	search int
}

func (c *spread) add(node int, by int32) {
	switch {
	case c.host:
		c.count[node] += by
	case c.counted[node] && c.domain[node] >= 0:
		c.count[c.domain[node]] += by
	}
}

// count applies the effects of pods that come to a node or leave it.
func (g *scoring) count(node int, by int64) {
	for _, e := range g.effects {
		e.add(node, by)
	}
	for _, c := range g.counts {
		c.add(node, int32(by))
	}
}

// weightOf returns the weight of a term of a pod in place. It is 0 for a term that does not score.
func weightOf(t *model.Term) int64 {
	switch {
	case t.Use == model.Affinity && t.Hard:
		return requiredWeight
	case t.Use == model.Affinity:
		return int64(t.Weight)
	case t.Use == model.AntiAffinity && !t.Hard:
		return -int64(t.Weight)
	}
	return 0
}

// selected returns the workloads that a term selects, and sets the reason for both if that is
// uncertain.
func (s *State) selected(t *model.Term, p *pods, incoming bool) []*pods {
	var all []*pods
	if o := s.m.Absent(t, p.Group); o != nil {
		doubt(p, model.Reason{Cause: model.ByUnknown, Workload: o})
	}
	for _, list := range s.m.Index.Candidates(t, p.Workload) {
		for _, w := range list {
			o := s.of[w]
			if o == nil {
				continue
			}
			switch s.m.Peer(t, p.Workload, w) {
			case model.Maybe:
				doubt(p, model.Reason{Cause: model.ByLabel, Workload: w})
				doubt(o, model.Reason{Cause: model.ByLabel, Workload: p.Workload})
			case model.Yes:
				if s.m.Selects(t, p.Workload, w, model.Asks{Incoming: incoming}) {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

func doubt(p *pods, why model.Reason) {
	if !p.why.Given() {
		p.why = why
	}
}

// learn prepares the scores of a workload's pods on first use. It returns the reason why nothing
// can be said of the nodes that they get, or an empty one.
func (s *State) learn(p *pods) model.Reason {
	if p.learnt {
		return p.why
	}
	p.learnt = true
	s.touched = append(s.touched, p)
	s.m.Run().Spend(2 * len(s.nodes))
	if p.unsure {
		doubt(p, model.Reason{Cause: model.ByLabel})
		for _, d := range s.m.Doubts([]*workload.Workload{p.Workload}) {
			p.why = model.Reason{Cause: d.Cause(), Name: d.Key, Workload: d.Target}
			break
		}
	}
	if names := search.Unlisted(s.m, p.Workload); len(names) > 0 {
		doubt(p, model.Reason{Cause: model.ByResource, Name: string(names[0])})
	}
	if why := s.m.ByNeighbour(p.Workload); why.Given() {
		doubt(p, why)
	}
	for _, n := range p.nodes {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if _, listed := s.nodes[n].Allocatable[name]; !listed {
				doubt(p, model.Reason{Cause: model.ByResource, Name: string(name)})
			}
		}
	}
	if p.why.Given() {
		return p.why // its pods are not scored
	}
	if s.avoiding {
		f := model.NewFilter(p.Workload)
		p.avoided = make([]int64, len(s.nodes))
		for i, n := range s.nodes {
			p.avoided[i] = int64(f.Avoided(n))
		}
	}
	known := false
	if p.preferred, known = model.Preferred(p.Workload, s.nodes); !known {
		doubt(p, model.Reason{Cause: model.ByField, Name: "affinity"})
	}
	s.learnNear(p)
	s.learnSpreads(p)
	return p.why
}

// learnNear prepares the score of InterPodAffinity.
func (s *State) learnNear(p *pods) {
	all := slices.Clone(s.against[p.Workload])
	for _, t := range p.Terms {
		if weight := weightOf(t); weight != 0 && !t.Hard {
			for _, o := range s.selected(t, p, true) {
				all = append(all, influence{o, t.Key, weight})
			}
		}
	}
	for _, x := range all {
		i := slices.IndexFunc(p.near, func(f *field) bool { return f.key == x.key })
		if i < 0 {
			domain, size := s.m.Numbered(x.key, s.nodes)
			i, p.near = len(p.near), append(p.near, &field{x.key, domain, make([]int64, size)})
		}
		e := effect{p.near[i], x.weight}
		x.from.effects, s.touched = append(x.from.effects, e), append(s.touched, x.from)
		s.m.Run().Spend(1 + len(x.from.places)/model.PerStep)
		for _, n := range x.from.places {
			e.add(int(n), 1)
		}
	}
}

// learnSpreads prepares the score of PodTopologySpread.
func (s *State) learnSpreads(p *pods) {
	terms, standard, known := s.m.SoftSpreads(p.Group)
	if !known {
		doubt(p, model.Reason{Cause: model.ByLabel})
	}
	var carries []bool
	if !standard && len(terms) > 0 {
		keys := lists.Of(terms, func(t *model.Term) string { return t.Key })
		carries = make([]bool, len(s.nodes))
		for i, n := range s.nodes {
			carries[i] = model.Carries(n.Labels, keys)
		}
	}
	passes := s.m.Eligible(p.Workload).Nodes
	var chosen []*pods
	for i, t := range terms {
		if i == 0 || !standard { // both default constraints have the same selector
			chosen = nil
			if t.Sel.Form == model.FormSet { // others count no pods
				chosen = s.selected(t, p, true)
			}
		}
		domain, size := s.m.Numbered(t.Key, s.nodes)
		c := &spread{host: t.Key == corev1.LabelHostname, skew: int64(t.Constraint.MaxSkew) - 1, domain: domain, carries: carries}
		if c.host {
			c.count = make([]int32, len(s.nodes))
		} else {
			c.count, c.seen, c.counted = make([]int32, size), make([]int, size+1), make([]bool, len(s.nodes))
			for i := range s.nodes {
				c.counted[i] = (carries == nil || carries[i]) && (!t.HonorsAffinity() || passes[i].Selector) && (!t.HonorsTaints() || passes[i].Taints)
			}
		}
		p.spreads = append(p.spreads, c)
		for _, o := range chosen {
			if !o.Terminating() {
				o.counts, s.touched = append(o.counts, c), append(s.touched, o)
				s.m.Run().Spend(1 + len(o.places)/model.PerStep)
				for _, n := range o.places {
					c.add(int(n), 1)
				}
			}
		}
	}
}

// forget drops what learn has prepared.
func (s *State) forget() {
	for _, p := range s.touched {
		p.scoring = scoring{why: p.why}
	}
	s.touched = nil
}

// score computes the scores of the nodes found for a pod, without those that are the same for all.
func (s *State) score(p *pods) {
	s.m.Run().Spend(1 + len(s.found)*(2+len(p.spreads)+len(p.near))/model.PerStep)
	s.total = slices.Grow(s.total[:0], len(s.found))[:len(s.found)]
	s.raw = slices.Grow(s.raw[:0], len(s.found))[:len(s.found)]
	if p.kept == nil {
		if s.kept == nil || len(s.kept)*len(s.nodes) > mostKept {
			s.kept = map[[2]amounts][]keptScore{}
		}
		p.kept = lazy.Cached(s.kept, [2]amounts{p.incoming, p.real}, func() []keptScore { return make([]keptScore, len(s.nodes)) })
	}
	for i, n := range s.found {
		l, k := &s.loads[n], &p.kept[n]
		if k.since != l.moves {
			*k = keptScore{l.moves, l.fit(p.incoming) + l.balance(p.real)}
		}
		s.total[i] = k.score
	}
	if p.avoided != nil {
		most := int64(0)
		for i, n := range s.found {
			s.raw[i] = p.avoided[n]
			most = max(most, s.raw[i])
		}
		for i, avoided := range s.raw {
			s.total[i] += taintWeight * (mostScore - mostScore*avoided/max(most, 1))
		}
	}
	if p.preferred != nil {
		most := int64(0)
		for _, n := range s.found {
			most = max(most, p.preferred[n])
		}
		for i, n := range s.found {
			s.total[i] += affinityWeight * (mostScore * p.preferred[n] / max(most, 1))
		}
	}
	if len(p.near) > 0 {
		s.scoreNear(p)
	}
	if len(p.spreads) > 0 {
		s.scoreSpreads(p)
	}
}

// fit is the score of NodeResourcesFit with the strategy LeastAllocated
// (plugins/noderesources/least_allocated.go; R-B5).
func (l *load) fit(asked amounts) int64 {
	sum, resources := int64(0), int64(0)
	for _, r := range [2][2]int64{{l.has.cpu, l.scored.cpu + asked.cpu}, {l.has.memory, l.scored.memory + asked.memory}} {
		if has, requested := r[0], r[1]; has > 0 {
			resources++
			sum += max(0, has-requested) * mostScore / has
		}
	}
	return sum / max(resources, 1)
}

// balance is the score of NodeResourcesBalancedAllocation
// (plugins/noderesources/balanced_allocation.go; R-B6).
func (l *load) balance(asked amounts) int64 {
	after := l.real
	after.add(asked, 1)
	return mostScore/2 + (mostScore/2+evenness(after, l.has)-evenness(l.real, l.has))/2
}

// scoreNear adds the score of InterPodAffinity (plugins/interpodaffinity/scoring.go; R-B7).
func (s *State) scoreNear(p *pods) {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i, n := range s.found {
		s.raw[i] = 0
		for _, f := range p.near {
			if d := f.domain[n]; d >= 0 {
				s.raw[i] += f.sum[d]
			}
		}
		least, most = min(least, s.raw[i]), max(most, s.raw[i])
	}
	if most == least {
		return
	}
	for i, sum := range s.raw {
		s.total[i] += podWeight * scaled(sum-least, most-least)
	}
}

// scoreSpreads adds the score of PodTopologySpread (plugins/podtopologyspread/scoring.go; R-B4).
func (s *State) scoreSpreads(p *pods) {
	s.ignored = slices.Grow(s.ignored[:0], len(s.found))[:len(s.found)]
	left := 0
	for i, n := range s.found {
		s.ignored[i] = p.spreads[0].carries != nil && !p.spreads[0].carries[n]
		if !s.ignored[i] {
			left++
		}
	}
	var weights [8]float64
	of := weights[:0]
	for _, c := range p.spreads {
		of = append(of, s.log(c.domains(s.found, s.ignored, left)+2))
	}
	least, most := int64(math.MaxInt64), int64(0)
	for i, n := range s.found {
		if s.ignored[i] {
			continue
		}
		sum := 0.0
		for k, c := range p.spreads {
			d := c.domain[n]
			if d < 0 {
				continue
			}
			if c.host {
				d = n
			}
			sum += crowding(int64(c.count[d]), c.skew, of[k])
		}
		s.raw[i] = int64(math.Round(sum))
		least, most = min(least, s.raw[i]), max(most, s.raw[i])
	}
	for i := range s.found {
		switch {
		case s.ignored[i]: // scores 0
		case most == 0:
			s.total[i] += spreadWeight * mostScore
		default:
			s.total[i] += spreadWeight * (mostScore * (most + least - s.raw[i]) / most)
		}
	}
}

// domains counts the domains of the nodes found. Nodes without the key are one more.
func (c *spread) domains(found []int32, ignored []bool, left int) int {
	if c.host {
		return left
	}
	c.search++
	size := 0
	for i, n := range found {
		if d := c.domain[n] + 1; !ignored[i] && c.seen[d] != c.search {
			c.seen[d] = c.search
			size++
		}
	}
	return size
}

// log returns the natural logarithm of a whole number.
func (s *scorer) log(n int) float64 {
	for k := len(s.logs); k <= n; k++ {
		s.logs = append(s.logs, logarithm(max(k, 1)))
	}
	return s.logs[n]
}
