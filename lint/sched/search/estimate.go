package search

import "github.com/schedlint/schedlint/lint/sched/certificate"

// A component that is too large for a search is settled by proofs that need none, each of
// which may fail: that some pod groups cannot all have room (never), that no pod group
// can get stuck (always), and runs that place everything or get stuck. What stays open is
// given as bounds.

// estimates settles components by proofs and runs that need no search.
type estimates struct{ *state }

// estimate settles a component as far as proofs and runs go. If no pod can get stuck,
// there is no need for a complete run: every run can be extended to one.
func (e estimates) estimate(c component, h *headroom) outcome {
	o := openOutcome(c)
	o.best = greedyRuns(e).runFirst(c.units, nil)
	e.undo(o.best)
	if len(o.best) < c.pods {
		e.shortOfRoom(&o)
	}
	switch {
	case o.most < c.pods:
		o.never, o.decided = true, true
		h.proveNeverStuck()
	case h.proveNeverStuck().all:
		o.proof = certificate.Proof{Kind: certificate.Headroom, Company: h.result.near}
		o.always, o.decided, o.exact = true, true, len(o.best) == c.pods
		o.least, o.worst = c.pods, o.best
		copy(o.ownLeast, o.ownMost)
	default: // look for runs that show that order matters: by theory, or else by trying
		if f := newConflictGraph(e.state, c); f != nil {
			f.settle(&o)
			break
		}
		if len(o.units)*len(e.nodes) <= maxFillers {
			greedyRuns(e).repair(&o)
		}
		if len(o.best) == o.pods {
			o.worst, o.decided = greedyRuns(e).fillers(c)
		}
	}
	if !o.decided || o.never {
		o.worst = o.best
	}
	if o.decided && !o.exact && o.pods <= smallPods && len(e.nodes) <= smallNodes {
		if f := newConflictGraph(e.state, c); f != nil {
			f.exactly(&o)
		}
	}
	return o
}
