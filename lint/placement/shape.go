package placement

import "fmt"

// Shape is the same for groups that the filters treat alike, each with the nodes to
// itself: those with the same node rules, requests, pods, way to roll out and rules
// about their own pods, and without any about others. It is "" for all the rest.
func (g *Group) Shape() string {
	if len(g.HostPorts) > 0 || !g.Count.Known || g.Running || g.Scale != nil {
		return ""
	}
	roll := g.Rollout(g.Count.N)
	text := fmt.Sprintf("%s %s %d %s/%s %v %d %d %d %s", g.signature, g.request, g.Count.N, g.Object.Group(), g.Object.Kind,
		roll.Way, roll.Surge, roll.Unavailable, roll.Preview, roll.Unknown)
	for _, t := range g.Terms {
		if !t.Hard {
			continue
		}
		if t.Use == Affinity || t.Form() != FormSet || !g.selectsOwn(t) || len(t.Namespaces) > 0 || t.NamespaceSelector != nil {
			return ""
		}
		text += fmt.Sprintf(" %s %s %v %v", t.Use, t.Key, t.MatchKeys, t.MismatchKeys)
		if c := t.Constraint; c != nil {
			text += fmt.Sprintf(" %d %v %v %v", c.MaxSkew, t.MinDomains(), t.honorsAffinity(), t.honorsTaints())
		}
	}
	return text
}

// selectsOwn reports whether a term certainly selects all pods of the group.
func (g *Group) selectsOwn(t *Term) bool {
	return t.sel.matches(g.Workload, g.Workload, true) == Yes && len(t.sel.reqs) > 0
}
