package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

func join(parts []string) string { return strings.Join(parts, ", ") }

// notShown is said where a finding holds in some placements of all pods, and not
// in the one that was looked at.
const notShown = "every pod finds a node in the placement that was examined; in other placements some do not, and those are not shown"

// spareText names the nodes that a pool may have beyond those that are declared.
func spareText(g topology.Growth) string {
	text := fmt.Sprintf("up to %d more of pool %s", g.Extra, g.Node.Pool.Name)
	if zone := g.Node.Labels["topology.kubernetes.io/zone"]; zone != "" {
		text += " in zone " + zone
	}
	return text
}

// updated is about a workload while it is updated.
func (x *Explainer) updated(w *workload.Workload, r *disruption.Rollout) diag.Account {
	if r.Verdict != diag.Never && r.Verdict != diag.Sometimes {
		return x.still(w, "every new pod finds a node: no filter blocks the rollout")
	}
	s := x.judge().Updated(w, r)
	if s == nil {
		return x.still(w, notShown)
	}
	s.Call(s.Old, "the old revision of "+w.String())
	s.Call(s.Next, "the new revision of "+w.String())
	old, _ := s.Count(s.Old)
	fresh, missing := s.Count(s.Next)
	switch {
	case old == 0:
		return x.still(w, "no old pod runs on the nodes at count, so the update is not shown")
	case missing == 0:
		return x.still(w, notShown)
	}
	caption := fmt.Sprintf("%s during a rollout, with %s running; filter results for the next new pod", w, plural(old, "old pod"))
	if fresh > 0 {
		caption = fmt.Sprintf("%s during a rollout, with %s and %s running; filter results for the next new pod", w, plural(old, "old pod"), plural(fresh, "new pod"))
	}
	a := diag.Account{Tables: []diag.NodeTable{x.table(w, caption, s.Outlook(s.Next))}}
	if len(x.b.j.Remedies(w, r)) > 0 {
		a.Tried = "each was tried on the declared nodes: the rollout then completes in every run"
	}
	return a
}

// moving is about a machine that migrates.
func (x *Explainer) moving(w *workload.Workload) diag.Account {
	s := x.judge().Moving(w)
	if s == nil {
		return x.still(w, "too many machines have labels of their own to show one that migrates")
	}
	if _, missing := s.Count(s.Next); missing == 0 {
		return x.still(w, notShown)
	}
	s.Call(s.Old, "the machine that migrates")
	caption := fmt.Sprintf("%s while one of %s migrates; filter results for its target pod", w, plural(s.Pods, "machine"))
	a := diag.Account{Tables: []diag.NodeTable{x.table(w, caption, s.Outlook(s.Next))}}
	if len(x.judge().MigrationRemedies(w)) > 0 {
		a.Tried = "each was tried on the declared nodes: any machine can then migrate"
	}
	return a
}

// scaled is about a workload at the maximum of its autoscaler.
func (x *Explainer) scaled(w *workload.Workload) diag.Account {
	s := x.judge().Scaled(w)
	placed, missing := s.Count(s.Next)
	if missing == 0 {
		return x.still(w, notShown)
	}
	return diag.Account{Tables: []diag.NodeTable{x.table(w, "at the maximum of the autoscaler: "+next(w, placed, missing), s.Outlook(s.Next))}}
}

// lost is about a workload after a loss of nodes, or a drain.
func (x *Explainer) lost(w *workload.Workload, all []disruption.Survival, worst *disruption.Survival) diag.Account {
	if worst == nil {
		return x.still(w)
	}
	if !(certificate.Loss{Meaning: worst.Meaning}).Recreated(w) {
		return x.still(w, "pods are not recreated while the Node object exists, so no node is checked")
	}
	s, loss := x.judge().Lost(w, all, worst)
	if s == nil {
		return x.still(w, notShown)
	}
	_, missing := s.Count(s.Next)
	if missing == 0 {
		return x.still(w, notShown)
	}
	caption := fmt.Sprintf("%s %s, with %s missing; filter results for the next one", w, lossText(loss), plural(missing, "pod"))
	a := diag.Account{Tables: []diag.NodeTable{x.table(w, caption, s.Outlook(s.Next))}}
	if missing != worst.Pending {
		a.Notes = append(a.Notes, fmt.Sprintf("the number of Pending pods depends on where the others run: %d in the placement shown, %d in the finding", missing, worst.Pending))
	}
	return a
}

// lossText says what happened before.
func lossText(l *certificate.Loss) string {
	nodes := slices.Sorted(maps.Keys(l.Nodes))
	some := nodes[:min(len(nodes), maxNamed)]
	text := join(some)
	if more := len(nodes) - len(some); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	switch l.Meaning {
	case certificate.Drained:
		return "after a drain of " + text
	case certificate.Unreachable:
		return "while " + text + " is unreachable"
	}
	return "after the loss of " + text
}

// guarded is about pods that a disruption budget keeps where they are.
func (x *Explainer) guarded(b *disruption.Budget) diag.Account {
	if len(b.Workloads) == 0 {
		return diag.Account{Notes: []string{"it selects no pods of declared workloads, so no node is checked"}}
	}
	return x.still(b.Workloads[0], "no filter is involved: the eviction is refused before scheduling")
}
