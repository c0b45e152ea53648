package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// zone is a number of domains of one spread that a loss treats equally.
type zone struct {
	count int // number of domains
	// before and left are the numbers of pods that one holds before the loss and after it,
	// lost is the number that can be on its lost nodes.
	before, left, lost int
	stays              bool // still a domain after the loss
}

// shares is a spread constraint over the pods of one workload, alone.
type shares struct {
	pods, skew int
	zones      []zone
	// level is the smallest number of pods in a domain of the fullest states after the loss,
	// and floor the same before it, 0 where there are too few domains.
	level, floor int
}

// spread decides where one spread constraint counts only the pods of the workload, and
// each node takes at most one pod by anti-affinity, if any (T3). With c the pods that a
// domain holds, let m be the least c of all domains.
//
// A domain with the fewest pods is never refused, whatever the history: its count and the
// pod itself are 1 more than the minimum. So when no more pods can be placed, that domain
// is full, the minimum is m, and every other domain is full, or has m + maxSkew pods, or
// had more from the start. The end depends on no order: domain d has max(y, min(c, m +
// maxSkew)) with y survivors.
//
// Placements before the loss are all vectors x with x <= c and x <= min x + maxSkew: any
// of them is reached level by level. The lost node's share of x is as large, or as small,
// as the nodes allow.
func (r *Room) spread(b *DomainLoss, l certificate.Loss) (v diag.Outcome, pending int, ok bool) {
	t := r.p.Spreads[0]
	if !r.own(t, nil) || slices.ContainsFunc(r.p.Keys, r.coarse) {
		return "", 0, false
	}
	worst, best, sure, found := r.shares(t, b, l).missing(l.CreatedAgain(r.p.G))
	switch {
	case !found:
		return diag.Unknown, 0, true
	case worst == 0:
		return diag.Always, 0, true
	case best > 0:
		return diag.Never, best, true
	}
	return diag.Sometimes, worst, sure
}

// NeverFits returns how many pods at least are missing in the end in every run, judged by
// the spread constraints that count the pods of the workload and no others; 0 is no
// promise. It looks at each as if there were no other rule: what completes with more
// rules completes with fewer.
func (r *Room) NeverFits(b *DomainLoss, l certificate.Loss, group []*workload.Workload) int {
	fewest := 0
	if !bound.QuickApplies(r.p.G) || !plain(r.m, r.p.G) {
		return 0
	}
	for _, t := range r.p.Spreads {
		if !r.own(t, group) {
			continue
		}
		if _, best, _, found := r.shares(t, b, l).missing(l.CreatedAgain(r.p.G)); found {
			fewest = max(fewest, best)
		}
	}
	return fewest
}

// own reports whether a constraint counts the pods of the workload and those of no other
// workload of a group.
func (r *Room) own(t *model.Term, group []*workload.Workload) bool {
	w := r.p.G.Workload
	return t.Sel.Form == model.FormSet && r.m.Self(t, w) == model.Yes && r.m.Peer(t, w, w) == model.Yes &&
		!slices.ContainsFunc(group, func(o *workload.Workload) bool { return o != w && r.m.Peer(t, w, o) != model.No })
}

func (r *Room) shares(t *model.Term, b *DomainLoss, l certificate.Loss) *shares {
	s := &shares{pods: r.pods, skew: int(t.Constraint.MaxSkew), zones: r.zones(t, b, l.Meaning == certificate.Gone || t.HonorsTaints())}
	before, after, had, has := s.pods, s.pods, 0, 0
	for i := range s.zones {
		z := &s.zones[i]
		z.before, z.left, z.lost = min(z.before, s.pods), min(z.left, s.pods), min(z.lost, s.pods)
		had, before = had+z.count, min(before, z.before)
		if z.stays {
			has, after = has+z.count, min(after, z.left)
		}
	}
	if had >= t.MinDomains() {
		s.floor = before
	}
	if has >= max(1, t.MinDomains()) {
		s.level = after
	}
	return s
}

// zones returns the domains of the constraint, over nodes that carry the keys of all
// constraints (R-T2). If lost nodes no longer count (forget), a domain without other
// nodes disappears.
func (r *Room) zones(t *model.Term, b *DomainLoss, forget bool) []zone {
	r.m.Run().Spend(len(r.nodes))
	e, domain, keys := r.m.Eligible(r.p.G.Workload), r.domain(t.Key), model.HardKeys(r.p.G)
	by, order := map[int32]*zone{}, []int32{}
	var all []zone
	for c, nodes := range r.nodes {
		p := e.Nodes[nodes[0]]
		if !model.Carries(r.m.Topology.Nodes[nodes[0]].Labels, keys) || t.HonorsTaints() && !p.Taints || t.HonorsAffinity() && !p.Selector {
			continue
		}
		most, taken := r.per(c), b.taken[int32(c)]
		if domain[c] == alone {
			all = append(all, zone{count: taken, before: most, lost: most, stays: !forget}, zone{count: len(nodes) - taken, before: most, left: most, stays: true})
			continue
		}
		z := by[domain[c]]
		if z == nil {
			z = &zone{count: 1}
			by[domain[c]], order = z, append(order, domain[c])
		}
		z.before += most * len(nodes)
		z.left += most * (len(nodes) - taken)
		z.lost += most * taken
		z.stays = z.stays || !forget || taken < len(nodes)
	}
	for _, d := range order {
		all = append(all, *by[d])
	}
	return slices.DeleteFunc(all, func(z zone) bool { return z.count == 0 })
}

// target returns the number of pods to which a repair fills a domain.
func (s *shares) target(z *zone) int {
	if !z.stays {
		return 0
	}
	return min(z.left, s.level+s.skew)
}

// most returns how many pods a domain may have if the minimum is at least m.
func (s *shares) most(z *zone, m int) int { return min(z.before, m+s.skew) }

// missing goes over the placements before the loss by their minimum. It returns how many
// pods are missing after the worst of them and, at least, after the best, and whether the
// best is known to leave none. There is a placement for m if m pods in each domain are
// not too many, and as many as each may have not too few.
func (s *shares) missing(recreated bool) (worst, best int, sure, found bool) {
	best = s.pods
	for m := 0; m <= s.floor; m++ {
		least, most := 0, 0
		for i := range s.zones {
			least, most = least+m*s.zones[i].count, most+s.most(&s.zones[i], m)*s.zones[i].count
		}
		if least > s.pods || most < s.pods {
			continue
		}
		found = true
		worst = max(worst, s.worst(m, recreated))
		low, exact := s.best(m, recreated)
		best = min(best, low)
		sure = sure || exact && low == 0
	}
	return worst, best, sure, found
}

// fill places the pods beyond the minimum m, those without cost first, and returns the
// cost.
func (s *shares) fill(m int, of func(z *zone, x int) int) int {
	cost, free, rest := 0, 0, s.pods
	for i := range s.zones {
		z := &s.zones[i]
		base, top := of(z, m), s.most(z, m)
		cost += base * z.count
		rest -= m * z.count
		// The cost of a domain is convex in its pods, with slopes 0 and 1.
		paid := of(z, top) - base
		free += (top - m - paid) * z.count
	}
	return cost + max(0, rest-free)
}

// worst returns how many pods are missing after the worst of the placements with a
// minimum of at least m. Pods in a domain beyond those that a repair would put there are
// a gain, and the worst placement gains the fewest.
func (s *shares) worst(m int, recreated bool) int {
	if !recreated { // with the most lost, the fewest survive
		return s.pods - s.fill(m, func(z *zone, x int) int { return max(0, x-z.lost) })
	}
	sum := 0
	for i := range s.zones {
		sum += s.target(&s.zones[i]) * s.zones[i].count
	}
	gained := s.fill(m, func(z *zone, x int) int {
		if !z.stays {
			return 0
		}
		return max(0, x-z.lost-s.target(z))
	})
	return max(0, s.pods-sum-gained)
}

// best bounds from below how many pods are missing after the best of these placements;
// exact says whether the bound is reached. The fewest possible pods are lost, no more
// come back than would to domains with m pods each, and in the end no domain has more
// than a repair brings it to or it may have from the start.
func (s *shares) best(m int, recreated bool) (low int, exact bool) {
	lost := s.fill(m, func(z *zone, x int) int { return max(0, x-z.left) })
	if !recreated || lost == 0 {
		return lost, true
	}
	back, fullest := 0, 0
	for i := range s.zones {
		z := &s.zones[i]
		back += max(0, s.target(z)-min(m, z.left)) * z.count
		if z.stays {
			fullest += max(s.target(z), min(s.most(z, m), z.left)) * z.count
		}
	}
	if back == 0 {
		return lost, true
	}
	return max(0, lost-back, s.pods-fullest), s.even(m) == 0
}

// even returns how many pods are missing after one placement: m pods in each domain, and
// the others where the fewest are lost, in one domain after the other.
func (s *shares) even(m int) int {
	rest := s.pods
	for i := range s.zones {
		rest -= m * s.zones[i].count
	}
	missing := s.pods
	// First the domains up to what their remaining nodes hold, then what the lost nodes must
	// take.
	place := func(z *zone, x, upTo int) int {
		more := max(0, min(rest, upTo-x))
		rest -= more
		return x + more
	}
	var counts []int
	var of []*zone
	for i := range s.zones {
		for range s.zones[i].count {
			of = append(of, &s.zones[i])
			counts = append(counts, place(&s.zones[i], m, min(s.most(&s.zones[i], m), s.zones[i].left)))
		}
	}
	for i, z := range of {
		counts[i] = place(z, counts[i], s.most(z, m))
		if z.stays {
			missing -= max(min(counts[i], z.left), s.target(z))
		}
	}
	return max(0, missing)
}
