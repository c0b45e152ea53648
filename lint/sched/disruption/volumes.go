package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxClasses is the maximum number of undeclared storage classes whose volumes are assumed both to
// be usable everywhere and only in one zone.
const maxClasses = 3

// askForVolumes answers a question about a loss for all that volumes of undeclared storage classes
// may be. The answer is unknown if it depends on that.
func (q *loss) askForVolumes(b *search.DomainLoss, meaning certificate.Meaning) answer {
	own := q.j.m.PinOf(q.w)
	var classes []string
	if own.Open != "" {
		classes = append(classes, own.Open)
	}
	a := q.askUnder(classes, b, meaning)
	if a.searched && len(q.contending) > 1 {
		vague := false
		for _, w := range q.contending {
			if p := q.j.m.PinOf(w); w != q.w && p.Key != "" {
				if vague = vague || p.Vague; p.Open != "" && !slices.Contains(classes, p.Open) {
					classes = append(classes, p.Open)
				}
			}
		}
		switch {
		case vague || len(classes) > maxClasses:
			return answer{verdict: diag.Unknown, why: by(model.ByVolume)}
		case len(classes) > 0 && classes[0] != own.Open || len(classes) > 1:
			a = q.askUnder(classes, b, meaning)
		}
	}
	if own.Vague && !a.missed && a.verdict != diag.Never {
		return answer{verdict: diag.Unknown, why: model.Reason{Cause: model.ByVolume, Name: "the label " + own.Key + ", which some nodes lack"}}
	}
	return a
}

// askUnder answers a question under every assumption about the given classes.
func (q *loss) askUnder(classes []string, b *search.DomainLoss, meaning certificate.Meaning) (a answer) {
	for set := range 1 << len(classes) {
		q.free = map[string]bool{}
		for i, class := range classes {
			q.free[class] = set>>i&1 == 1
		}
		q.pin = q.pinnedTo(q.w)
		switch found := q.ask(b, meaning); {
		case set == 0:
			a = found
		case found.verdict != a.verdict || found.missed != a.missed:
			return answer{verdict: diag.Unknown, why: model.Reason{Cause: model.ByClass, Name: classes[0]}}
		default:
			a.pending, a.hit, a.searched = min(a.pending, found.pending), min(a.hit, found.hit), a.searched || found.searched
			if a.waits != found.waits {
				a.waits = ""
			}
		}
	}
	return a
}

// pinnedTo returns the label whose value the pods of a workload keep, under the present assumption.
func (q *loss) pinnedTo(w *workload.Workload) string {
	p := q.j.m.PinOf(w)
	if q.free[p.Open] {
		return ""
	}
	return p.Key
}

// stranded reports whether no node is left that can use the volumes of a lost pod.
func (q *loss) stranded(b *search.DomainLoss) bool {
	if q.pin == "" {
		return false
	}
	_, left, known := q.room.Returns(b, q.pin)
	return known && !left
}

// fits reports whether a lost pod of the workload always finds a node, wherever the other pods are
// (T16).
func (q *loss) fits(b *search.DomainLoss, l certificate.Loss, about *search.Roster) bool {
	if q.pin == "" {
		return q.room.FitsAnyway(b, l, about, model.Certain(q.w))
	}
	return q.room.FitsPinned(b, about, model.Certain(q.w), q.pin)
}

// spreads reports whether a group has a hard spread constraint.
func spreads(g *model.Group) bool {
	return slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && t.Use == model.Spread })
}
