package bound

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Shape returns a text that is equal for workloads that the filters treat alike when each
// has the nodes to itself: same node rules, requests, number of pods, rollout strategy and
// rules about their own pods, and no rules about others. Requests do not matter
// if each node holds as many pods as may ever exist: the given number and the pods that a
// rollout adds. It is "" for all other workloads.
func Shape(m *model.Model, w *workload.Workload, roll workload.Rollout, pods int) string {
	g := m.Groups[w]
	if len(g.HostPorts) > 0 || !g.Count.Known || g.Running || g.Scale != nil {
		return ""
	}
	request := g.Request
	if holdsAnywhere(m, g, pods+2*roll.Surge+2) {
		request = ""
	}
	text := fmt.Sprintf("%s %s %d %s/%s %v %d %d %d %v", g.Signature, request, g.Count.N, g.Object.Group(), g.Object.Kind,
		roll.Way, roll.Surge, roll.Unavailable, roll.Preview, roll.Unknown)
	for _, t := range g.Terms {
		if !t.Hard {
			continue
		}
		if t.Use == model.Affinity || t.Form() != model.FormSet || !selectsOwn(g, t) || len(t.Namespaces) > 0 || t.NamespaceSelector != nil {
			return ""
		}
		text += fmt.Sprintf(" %s %s %v %v", t.Use, t.Key, t.MatchKeys, t.MismatchKeys)
		if c := t.Constraint; c != nil {
			text += fmt.Sprintf(" %d %v %v %v", c.MaxSkew, t.MinDomains(), t.HonorsAffinity(), t.HonorsTaints())
		}
	}
	return text
}

// holdsAnywhere reports whether every node that the pods may use holds so many of
// them by its resources.
func holdsAnywhere(m *model.Model, g *model.Group, pods int) bool {
	return !slices.ContainsFunc(kinds(m, &Problem{m: m, G: g}, pods, ""), func(k kind) bool { return k.most < pods })
}

// selectsOwn reports whether a term certainly selects all pods of the group.
func selectsOwn(g *model.Group, t *model.Term) bool {
	return t.Sel.Matches(g.Workload, g.Workload, true) == model.Yes && len(t.Sel.Reqs) > 0
}
