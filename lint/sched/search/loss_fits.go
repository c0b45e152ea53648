package search

import (
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// FitsAnyway reports that there is always a node for a pod of the workload, with
// the pods of a group about, however they are and whatever their rules: then it
// is complete after every repair (T16). Each pod shuts the node that it is on, and
// others only by anti-affinity on a key of which domains hold several nodes. A
// node without pods of the group passes every spread over nodes (R-T7), and if
// its domain is the one with the fewest pods also one over such domains. So
//   - without keys of that kind it takes a node more than there are other pods;
//   - with one in anti-affinity, so many domains that have so many nodes, and
//     one more than there are pods that shut a domain;
//   - with one in a spread, so many nodes in each domain that counts; or, if it
//     counts no others, in as many domains as there are times maxSkew pods, as
//     with fewer pods than that a domain takes one more whatever the minimum is.
//
// Pods of unreachable nodes shut no more than the lost nodes and, by anti-affinity, the
// domains of these, which are left out.
func (r *Room) FitsAnyway(b *DomainLoss, l certificate.Loss, group []*workload.Workload, pods func(*workload.Workload) int) bool {
	if !bound.Screens(r.m, r.p.G) || len(r.p.G.HardAffinity()) > 0 {
		return false
	}
	about := -1 // but for the one that is to be placed
	for _, o := range group {
		if o.Kind.PerNode() {
			return false
		}
		about += pods(o)
	}
	key, shut, ok := r.shutting(group, pods)
	over, uneven := r.over()
	switch {
	case !ok || uneven || key != "" && over != nil:
		return false
	case over != nil:
		return r.everywhere(b, l, over, about, r.own(over, group))
	case key != "":
		return r.somewhere(b, l, key, shut, about)
	}
	return r.open(b, nil, 0) > about
}

// coarse reports whether domains of a key hold several nodes.
func (r *Room) coarse(key string) bool {
	for _, d := range r.domain(key) {
		if d >= 0 {
			return true
		}
	}
	return false
}

// shutting is the only coarse key of anti-affinity, and how many pods shut a
// domain of it to the workload; not ok if there are several keys.
func (r *Room) shutting(group []*workload.Workload, pods func(*workload.Workload) int) (key string, shut int, ok bool) {
	w := r.p.G.Workload
	for _, o := range group {
		shuts := false
		see := func(of, other *workload.Workload) bool {
			for _, t := range r.m.Groups[of].Terms {
				if !t.Hard || t.Use != model.AntiAffinity || !r.coarse(t.Key) || r.m.Peer(t, of, other) == model.No {
					continue
				}
				if key != "" && key != t.Key {
					return false
				}
				key, shuts = t.Key, true
			}
			return true
		}
		if !see(w, o) || !see(o, w) {
			return "", 0, false
		}
		if shuts {
			shut += pods(o)
			if o == w {
				shut--
			}
		}
	}
	return key, shut, true
}

// over is the one spread over a coarse key, nil if there is none; uneven is set
// if there are several.
func (r *Room) over() (t *model.Term, uneven bool) {
	for _, s := range r.p.Spreads {
		if !r.coarse(s.Key) {
			continue
		}
		if t != nil {
			return nil, true
		}
		t = s
	}
	return t, false
}

// open counts the nodes that take a pod when empty, of all kinds or of those in
// one domain.
func (r *Room) open(b *DomainLoss, domain []int32, d int32) int {
	r.m.Run().Spend(1 + len(r.nodes)/model.PerStep)
	sum := 0
	for c, most := range r.caps {
		if most > 0 && (domain == nil || domain[c] == d) {
			sum += len(r.nodes[c]) - b.taken[int32(c)]
		}
	}
	return sum
}

// somewhere reports that more domains than are shut have more open nodes than
// there are pods, or that nodes which are in none have.
func (r *Room) somewhere(b *DomainLoss, l certificate.Loss, key string, shut, about int) bool {
	domain := r.domain(key)
	unreachable := map[int32]bool{}
	for c := range b.taken {
		unreachable[domain[c]] = l.Meaning == certificate.Unreachable
	}
	seen := map[int32]bool{}
	roomy := 0
	for _, d := range domain {
		if d < 0 || seen[d] || unreachable[d] {
			continue
		}
		if seen[d] = true; r.open(b, domain, d) > about {
			roomy++
		}
	}
	return roomy > shut || r.open(b, domain, -1) > about
}

// everywhere reports that each domain of a constraint has more open nodes than
// there are pods. Then so has the one with the fewest pods. Where it counts its
// own pods only, domains will do that have less than maxSkew of them.
func (r *Room) everywhere(b *DomainLoss, l certificate.Loss, t *model.Term, about int, own bool) bool {
	domains, roomy := 0, 0
	domain := r.domain(t.Key)
	open := map[int32]int{}
	for c, most := range r.caps {
		if most > 0 {
			open[domain[c]] += len(r.nodes[c]) - b.taken[int32(c)]
		}
	}
	forget := l.Meaning == certificate.Gone || t.HonorsTaints()
	e := r.m.Eligible(r.p.G.Workload)
	seen := map[int32]bool{}
	for c, d := range domain {
		p := e.Nodes[r.nodes[c][0]]
		left := !forget || b.taken[int32(c)] < len(r.nodes[c])
		if !left || d == -1 || t.HonorsTaints() && !p.Taints || t.HonorsAffinity() && !p.Selector {
			continue
		}
		if d == alone { // one node each, and other kinds may have such domains
			domains += len(r.nodes[c])
			continue
		}
		if seen[d] {
			continue
		}
		seen[d] = true
		if domains++; open[d] > about {
			roomy++
		}
	}
	return roomy > 0 && roomy == domains && domains >= t.MinDomains() || own && roomy*int(t.Constraint.MaxSkew) >= r.pods
}
