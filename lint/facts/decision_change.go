package facts

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/change"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/placement"
	"github.com/schedlint/schedlint/lint/workload"
)

// rolls translates verdicts on rollouts.
var rolls = map[placement.Verdict]string{
	placement.Always: "completes", placement.OrderDependent: "may-stick", placement.Never: "never", placement.Undetermined: "undetermined", "": "none",
}

// changed is what becomes of a workload when something changes.
func (b *builder) changed(w *workload.Workload) diag.PlacementChange {
	out := diag.PlacementChange{
		Rollout:   b.rolls(w),
		Survives:  []diag.PlacementSurvival{},
		Migrate:   b.migrates(w),
		Autoscale: b.scales(w),
	}
	return out
}

// rolls is the rollout at the number of pods where it goes worst.
func (b *builder) rolls(w *workload.Workload) diag.PlacementRollout {
	all := b.j.Rollouts(w)
	if some := begun(all); len(some) > 0 {
		all = some
	}
	if len(all) == 0 {
		return diag.PlacementRollout{Verdict: "none"}
	}
	r := worst(all)
	out := diag.PlacementRollout{Verdict: rolls[r.Verdict], Surge: r.Surge, Unavailable: r.Unavailable}
	var parts []string
	switch r.Verdict {
	case "":
		if r.Way != workload.NoRollout {
			out.Reason = "its pods do not fit as it is"
		}
	case placement.Undetermined:
		out.Reason = r.Why
	case placement.Never, placement.OrderDependent:
		if at := scaleText(w, r.Replicas); at != "" {
			parts = append(parts, at)
		}
		parts = append(parts, r.Arithmetic)
		if r.Core != nil {
			_, reasons, _ := b.coreSubject(w, r.CoreModel, r.Core)
			parts = append(parts, strings.Join(reasons, ", "))
		}
		if room := roomText(b.j.Limit(w, r.Replicas+1)); room != "" {
			parts = append(parts, "room for "+room)
		}
		if len(r.Stuck) > 0 {
			parts = append(parts, fmt.Sprintf("with %s, a new pod fits nowhere (%s)", state(r), reason(r.Reasons)))
		}
		out.Reason = strings.Join(parts, "; ")
	}
	return out
}

func (b *builder) migrates(w *workload.Workload) diag.PlacementJudgement {
	m := b.j.Migration(w)
	out := diag.PlacementJudgement{Verdict: string(m.Answer), Reason: m.Why}
	if m.Core != nil {
		_, reasons, _ := b.coreSubject(w, m.CoreModel, m.Core)
		out.Reason = "the second pod finds no node beside the first: " + strings.Join(reasons, ", ")
	}
	if m.Answer == change.May {
		out.Reason = "it depends on where the others are"
	}
	return out
}

func (b *builder) scales(w *workload.Workload) diag.PlacementJudgement {
	s := b.j.Scaling(w)
	out := diag.PlacementJudgement{Verdict: string(s.Answer), Reason: s.Why}
	if s.Limit != nil {
		out.Reason = fmt.Sprintf("at most %d of the maximum of %d: %s", s.Most, w.Scale.Max, limitReason(s.Limit))
	}
	return out
}
