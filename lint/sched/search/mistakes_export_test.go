package search

import (
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// groups applies a mistake to each pod group, and reports whether it changed one of them.
func groups(change func(a *state, u *podGroup) bool) func(a *state) bool {
	return func(a *state) (planted bool) {
		for _, u := range a.units {
			planted = change(a, u) || planted
		}
		return planted
	}
}

// spreads applies a mistake to each spread constraint.
func spreads(change func(c *constraint) bool) func(a *state) bool {
	return groups(func(_ *state, u *podGroup) (planted bool) {
		for _, c := range u.spreads {
			planted = change(c) || planted
		}
		return planted
	})
}

// removed removes a list, and reports whether it had anything.
func removed[T any](list *[]T) bool {
	had := len(*list) > 0
	*list = nil
	return had
}

// Mistakes has one mistake in each filter that the search applies, planted in a compiled state.
var Mistakes = map[string]func(a *state) bool{
	"none": func(*state) bool { return true },
	"node filters pass": groups(func(a *state, u *podGroup) bool {
		if u.g.Running || u.g.Kind.PerNode() || len(u.nodes.list) == len(a.nodes) {
			return false
		}
		all := &nodeSet{has: make([]bool, len(a.nodes)), one: -1, least: u.nodes.least}
		for n := range a.nodes {
			all.has[n], all.list = true, append(all.list, int32(n))
		}
		u.nodes = all
		return true
	}),
	"a node is left out": groups(func(a *state, u *podGroup) bool {
		if u.g.Running || u.g.Kind.PerNode() || len(u.nodes.list) == 0 {
			return false
		}
		s := &nodeSet{has: slices.Clone(u.nodes.has), one: -1, list: u.nodes.list[1:], least: u.nodes.least}
		s.has[u.nodes.list[0]] = false
		u.nodes = s
		return true
	}),
	"requests are 0": groups(func(a *state, u *podGroup) (planted bool) {
		for r := range u.ask[:len(u.ask)-1] {
			planted, u.ask[r] = planted || u.ask[r] > 0, 0
		}
		return planted
	}),
	"a pod takes no slot":  groups(func(_ *state, u *podGroup) bool { u.ask[len(u.ask)-1] = 0; return true }),
	"requests are doubled": groups(func(_ *state, u *podGroup) bool { u.ask[len(u.ask)-1] *= 2; u.ask[0] *= 2; return true }),
	"ports never clash":    groups(func(_ *state, u *podGroup) bool { return removed(&u.clashes) }),
	"no exclusion":         groups(func(_ *state, u *podGroup) bool { return removed(&u.exclusions) }),
	"one exclusion is lost": groups(func(_ *state, u *podGroup) bool {
		had := len(u.exclusions) > 0
		u.exclusions = u.exclusions[min(1, len(u.exclusions)):]
		return had
	}),
	"rules are the kubelet's": groups(func(_ *state, u *podGroup) bool { u.kubelet = true; return true }),
	"no order of creation": groups(func(_ *state, u *podGroup) bool {
		had := u.createdAfter != nil
		u.createdAfter = nil
		return had
	}),
	"maxSkew is larger":    spreads(func(c *constraint) bool { c.maxSkew++; return true }),
	"maxSkew is smaller":   spreads(func(c *constraint) bool { c.maxSkew = max(1, c.maxSkew-1); return true }),
	"no minDomains":        spreads(func(c *constraint) bool { c.minDomains = 1; return true }),
	"a pod is not counted": spreads(func(c *constraint) bool { c.self = 0; return true }),
	"a domain is missing": spreads(func(c *constraint) bool {
		had := len(c.domains) > 0
		c.domains = c.domains[min(1, len(c.domains)):]
		return had
	}),
	"a node is not counted": spreads(func(c *constraint) bool {
		n := slices.Index(c.counted, true)
		if c.counted = slices.Clone(c.counted); n >= 0 {
			c.counted[n] = false
		}
		return n >= 0
	}),
	"peers are not counted": func(a *state) (planted bool) {
		for i := range a.watchers {
			planted = removed(&a.watchers[i]) || planted
		}
		return planted
	},
	"no spread":   groups(func(_ *state, u *podGroup) bool { return removed(&u.spreads) }),
	"no key":      groups(func(_ *state, u *podGroup) bool { removed(&u.spreads); return removed(&u.keys) }),
	"no affinity": groups(func(_ *state, u *podGroup) bool { return removed(&u.affinityKeys) }),
	"one affinity is lost": groups(func(_ *state, u *podGroup) bool {
		had := len(u.affinityKeys) > 1
		u.affinityKeys = u.affinityKeys[min(1, len(u.affinityKeys)):]
		return had
	}),
	"the first pod needs no peer": groups(func(_ *state, u *podGroup) bool {
		needs := len(u.affinityKeys) > 0 && !u.first
		u.first = true
		return needs
	}),
	"no peers": groups(func(_ *state, u *podGroup) bool { return removed(&u.peers) }),
	"peers never come": func(a *state) (planted bool) {
		for i, u := range a.units {
			planted = planted || len(u.affinityKeys) > 0 && !a.unplaceable[i]
			a.unplaceable[i] = a.unplaceable[i] || len(u.affinityKeys) > 0
		}
		return planted
	},
	"running pods take nothing": func(a *state) bool {
		for _, s := range a.running {
			a.unplace(s.unit, s.node)
		}
		a.rest = slices.Clone(a.free)
		return len(a.running) > 0
	},
	"nodes are twice as large": func(a *state) bool {
		for i := range a.free {
			if a.free[i] < math.MaxInt64/2 {
				a.free[i] *= 2
			}
		}
		a.rest = slices.Clone(a.free)
		return true
	},
	"places are everywhere": groups(func(a *state, u *podGroup) bool {
		had := len(a.places) > 1
		for k := range a.places[1:] {
			a.places[k+1] = slices.Repeat([]bool{true}, len(a.nodes))
		}
		return had
	}),
}

// Mistaken decides a model with a mistake in the search. It returns the decision after the checker
// has checked it, and false if there was nothing to plant.
func Mistaken(m *model.Model, mistake string) (d *certificate.Decision, planted bool) {
	parts := m.Split()
	a := newState(parts, true, nil)
	if !Mistakes[mistake](a) {
		return nil, false
	}
	found := decideInstance(a, Options{}, false)
	hold(parts, found, Options{})
	found.withhold()
	d = found.decision(m, found)
	confirm(parts, d)
	return d, true
}

// LossMistakes has one mistake in each step of the search of losses. They are planted in the states before a
// loss, in a loss, or in what is different after it.
var LossMistakes = map[string]func(s *losing) bool{
	"none": func(*losing) bool { return true },
	"a state is left out": func(s *losing) bool {
		had := len(s.states) > 1
		s.states = s.states[min(1, len(s.states)):]
		s.placed = len(s.states)
		return had
	},
	"all pods run before a loss": func(s *losing) bool {
		s.states = slices.DeleteFunc(s.states, func(pods []step) bool { return len(pods) < s.c.pods })
		had := len(s.states) < s.placed
		s.placed = len(s.states)
		return had
	},
	"no loss comes before": func(s *losing) bool { return removed(&s.again) },
	"pods move away from their volumes": func(s *losing) (planted bool) {
		for i := range s.to {
			planted = removed(&s.to[i]) || planted
		}
		return planted
	},
	"lost nodes take pods": func(s *losing) bool {
		n := slices.Index(s.lost, true)
		s.lost[n] = false
		return slices.Contains(s.lost, true)
	},
	"lost domains count": func(s *losing) (planted bool) {
		for c := range s.remain {
			planted = planted || len(s.remain[c]) < len(c.domains)
			s.remain[c] = c.domains
		}
		return planted
	},
	"lost domains do not count": func(s *losing) (planted bool) {
		for c, left := range s.remain {
			if planted = planted || len(left) > 1; len(left) > 1 {
				s.remain[c] = left[1:]
			}
		}
		return planted
	},
	"nodes are gone": func(s *losing) bool {
		was := s.Meaning == certificate.Unreachable
		if was {
			s.Meaning = certificate.Gone
		}
		return was
	},
	"nodes are still there": func(s *losing) bool {
		was := s.Meaning == certificate.Gone
		if was {
			s.Meaning = certificate.Unreachable
		}
		return was
	},
}

// MistakenLoss answers a question about a loss with a mistake in the search. The loss is one of a domain
// if no others come before it. MistakenLoss returns the error of the checker, or nil if the mistake changes
// nothing.
func MistakenLoss(m *model.Model, l certificate.Loss, again []certificate.Loss, mistake string) error {
	steps, check := budget(m, Options{})
	parts := m.Split()
	domains := []map[string]bool{l.Nodes}
	if len(again) > 0 {
		domains = nil
	}
	s := newLosing(newState(parts, true, nil), domains, again, &steps)
	if s == nil {
		return nil
	}
	var nodes []int
	s.episode, nodes = s.asked(l)
	if s.absence = s.absent(nodes); s.absence == nil || !LossMistakes[mistake](s) {
		return nil
	}
	out, _ := s.answers(l)
	return certificate.CheckerOf(parts).History(parts, domains, again).Check(l, out, check)
}

// RollMistakes has one mistake in each limit of the search of rollouts, and in what it finds.
var RollMistakes = map[string]func(s *rolling) (planted bool){
	"none":                          func(*rolling) bool { return true },
	"more pods may run":             func(s *rolling) bool { s.Surge++; return true },
	"no more pods may run":          func(s *rolling) bool { return zeroed(&s.Surge) },
	"more pods may be missing":      func(s *rolling) bool { s.Unavailable++; return true },
	"no pod may be missing":         func(s *rolling) bool { return zeroed(&s.Unavailable) },
	"a new pod fewer":               func(s *rolling) bool { s.all--; return true },
	"old pods go first":             func(s *rolling) bool { s.Empty = !s.Empty; return s.Empty },
	"old pods need not go":          func(s *rolling) bool { s.Whole = !s.Whole; return s.Whole },
	"a volume is attached anywhere": func(s *rolling) bool { return changed(s, func(w *workload.Workload) { w.Attached = diag.Never }) },
	"a volume is used anywhere":     func(s *rolling) bool { return changed(s, func(w *workload.Workload) { w.SharedPin = false }) },
	"new pods are even": func(s *rolling) bool {
		s.a.units[s.fresh].spreads = nil
		return true
	},
}

func zeroed(n *int) (was bool) {
	was, *n = *n > 0, 0
	return was
}

// changed edits a copy of the new pods' workload, so that the checker sees it as it was.
func changed(s *rolling, edit func(w *workload.Workload)) bool {
	w := *s.Fresh
	edit(&w)
	planted := w.Attached != s.Fresh.Attached || w.SharedPin != s.Fresh.SharedPin
	s.Fresh = &w
	return planted
}

// MistakenRoll answers a question about a rollout with a mistake in the search. It returns the error of
// the checker, or nil if the mistake changes nothing.
func MistakenRoll(m *model.Model, r certificate.Rollout, mistake string) error {
	steps, check := budget(m, Options{})
	parts := m.Split()
	s := newRolling(newState(parts, true, nil), r, &steps)
	if s == nil || !RollMistakes[mistake](s) {
		return nil
	}
	defer s.search.close()
	out := s.outcome()
	if out.Verdict == diag.Unknown {
		return nil
	}
	return certificate.CheckerOf(parts).Roll(parts, r, &out, check)
}

// Miscounts has one mistake in each number of T16.
var Miscounts = map[string]func(r *Room, x *contenders){
	"none":                       func(*Room, *contenders) {},
	"others request nothing":     func(_ *Room, x *contenders) { clear(x.asked) },
	"DaemonSets request nothing": func(_ *Room, x *contenders) { clear(x.daemons) },
	"others close no node":       func(_ *Room, x *contenders) { x.apart = 0 },
	"others close no domain":     func(_ *Room, x *contenders) { x.shut = 0 },
	"the key is forgotten":       func(_ *Room, x *contenders) { x.key = "" },
	"the spread is forgotten":    func(_ *Room, x *contenders) { x.over = nil },
	"the spread is its own":      func(_ *Room, x *contenders) { x.own = true },
	"there are no others":        func(_ *Room, x *contenders) { x.pods = 0 },
	"requests come in larger steps": func(_ *Room, x *contenders) {
		for i := range x.demands {
			x.demands[i] = classes.Demand{}.With(max(1, x.asked[i]), 1)
		}
	},
	"all nodes are open": func(r *Room, _ *contenders) {
		for c := range r.caps {
			r.caps[c] = max(1, r.caps[c])
		}
	},
}

// Miscounted reports whether T16 says with a mistake that a pod always finds a node after a loss, and
// whether the checker confirms that.
func Miscounted(r *Room, b *DomainLoss, l certificate.Loss, about *Roster, pods int, mistake string) (says, confirmed bool) {
	x := r.present(about, pods)
	if !x.counts {
		return false, false
	}
	Miscounts[mistake](r, x)
	says = r.leavesOpen(b, l, x)
	return says, says && r.FitsAnyway(b, l, about, pods)
}
