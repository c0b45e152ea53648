package derive

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// limits builds the facts about the rules that block the pods of one workload.
type limits struct{ *builder }

// limits adds facts about how many pods each hard rule allows.
func (b limits) limits(w *workload.Workload) {
	healthy := false // whether a rule may report a limit that is not exceeded
	for _, list := range limitLists {
		healthy = healthy || b.wanted(list, "outcome", diag.Always)
	}
	if !healthy && bound.Fits(b.m, w) {
		return
	}
	for _, l := range bound.Capacity(b.m, w) {
		if w.Finite() && l.Most > 0 { // more pods run when these have finished
			l.Exceeded, l.Grows = false, false
		}
		someNow := len(b.m.Topology.Nodes) > 0 // otherwise every workload needs growth
		if note := message.FitsOnceGrown(w, &l); someNow && l.Grows && (l.Exceeded || b.m.Judged(w)) && !slices.Contains(b.notes, note) {
			b.notes = append(b.notes, note)
		}
		b.faulty[w] = b.faulty[w] || l.Exceeded
		if l.By == bound.ByClaim { // which a fact about the claim says
			continue
		}
		if !b.wanted(limitLists[l.By], "outcome", verdict(&l)) || !l.Exceeded && !b.m.Judged(w) {
			continue
		}
		switch l.By {
		case bound.ByAntiAffinity:
			b.antiAffinity(w, &l)
		case bound.BySpread:
			b.spread(w, &l)
		case bound.ByHostPort:
			b.hostPort(w, &l)
		case bound.ByRoom:
			b.room(w, &l)
		}
	}
}

// limitLists maps each kind of limit to its list of facts.
var limitLists = map[bound.Limited]string{
	bound.ByAntiAffinity: "anti_affinity", bound.BySpread: "spreads", bound.ByHostPort: "host_ports", bound.ByRoom: "room",
}

// frame returns a subject for a limit, located at the given span. If pods exceed the limit, related
// locations show the number of pods and the excluded nodes. frame also returns the reasons why
// nodes are excluded. The result more is the number of further reasons.
func (b limits) frame(w *workload.Workload, l *bound.Limit, at diag.Span) (s Subject, all []facts.Exclusion, more int) {
	s = alone(w, at)
	if !l.Exceeded {
		return s, nil, 0
	}
	if count := w.CountSpan(); count != s.Location {
		s = s.related(count, "%s", message.ToSchedule(l.Pods))
	}
	s, all = excluded(b.m, s, w, true)
	return s, all, len(b.m.Excluded(w, true)) - len(all)
}

func verdict(l *bound.Limit) diag.Outcome {
	if l.Exceeded {
		return diag.Never
	}
	return diag.Always
}

// unplaced returns the number of pods that stay Pending because of a limit.
func unplaced(l *bound.Limit) int { return max(0, l.Pods-l.Most) }

func (b limits) antiAffinity(w *workload.Workload, l *bound.Limit) {
	s, excluded, more := b.frame(w, l, w.File().ItemSpan(l.Terms[0].Node))
	fact := facts.AntiAffinity{
		Outcome: verdict(l), Pods: l.Pods, Domains: l.Domains, Most: l.Most, Pending: unplaced(l), Nodes: l.Nodes, Eligible: l.Eligible,
		Excluded: excluded, MoreExcluded: more, Growth: message.GrownPools(l.Growth), Together: []facts.Rule{},
	}
	for _, key := range l.Together.Keys { // the other rules that the limit depends on
		fact.Together = append(fact.Together, facts.Rule{Use: string(l.Together.Kind), Hard: true, Key: key})
	}
	for i, t := range l.Terms {
		if !slices.Contains(fact.Keys, t.Key) {
			fact.Keys = append(fact.Keys, t.Key)
		}
		if i > 0 && l.Exceeded {
			s = s.related(w.File().ItemSpan(t.Node), message.AlsoApart)
		}
	}
	if l.Exceeded {
		a := b.advisor()
		s = b.advised(s, w, fact, func(s Subject) Subject {
			return a.offer(s, tries{
				search.MoreNodes: a.nodesToAdd(w, disruption.Edit{}, unplaced(l), func(n int) string { return message.AddNodes(n, fact.Keys[0]) }),
				search.Soften:    a.when(w, disruption.SoftAntiAffinity(), message.PreferAntiAffinity(fact.Keys[0])),
				search.FewerPods: a.lower(w, l),
			})
		})
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	for i := range fact.Together {
		fact.Together[i].W = fact.W
	}
	b.AntiAffinity = append(b.AntiAffinity, fact)
}

func (b limits) spread(w *workload.Workload, l *bound.Limit) {
	t := l.Terms[0]
	at := w.File().ItemSpan(t.Node)
	if l.Cause == "missing-key" {
		at = fieldSpan(w, t.Node, "topologyKey")
	}
	s, excluded, more := b.frame(w, l, at)
	keys := b.m.Group(w).SpreadKeys()
	fact := facts.Spread{
		Outcome: verdict(l), Cause: l.Cause, Pods: l.Pods, Key: t.Key, Keys: keys[:min(len(keys), maxListed)], KeyCount: len(keys),
		MaxSkew: int(t.Constraint.MaxSkew), MinDomains: t.MinDomains(),
		Domains: l.EligibleDomains, Smallest: l.Smallest, SmallestDomain: l.SmallestDomain, Most: l.Most, Pending: unplaced(l),
		Nodes: l.Nodes, Eligible: l.Eligible, Excluded: excluded, MoreExcluded: more, Growth: message.GrownPools(l.Growth),
	}
	if l.Exceeded {
		if l.Cause == "missing-key" {
			fact.Suggestion = b.suggest(t.Key)
		}
		s = b.advised(s, w, fact, func(s Subject) Subject { return b.spreadFix(s, w, l, &fact) })
		if len(b.m.Others(t, w, true)) > 0 { // their pods in the domain let others have more
			fact.SmallestDomain = ""
		}
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Spreads = append(b.Spreads, fact)
}

// maxListed is the maximum number of names in one field of a fact.
const maxListed = 20

func (b limits) spreadFix(s Subject, w *workload.Workload, l *bound.Limit, fact *facts.Spread) Subject {
	a, t := b.advisor(), l.Terms[0]
	all := tries{search.Soften: a.when(w, softSpread(t.Key), message.AcceptSkew), search.FewerPods: a.lower(w, l)}
	switch l.Cause {
	case "missing-key":
		if fact.Suggestion != "" {
			s.Fixes = append(s.Fixes, a.corrected(w, t, fact.Suggestion))
			return s
		}
		return s.fix("%s", message.LabelNodes(t.Key))
	case "min-domains":
		if span := fieldSpan(w, t.Node, "minDomains"); !span.IsZero() {
			s = s.related(span, "%s", message.MinDomainsRequires(fact.MinDomains, fact.Domains))
		}
		if fact.Domains+1 == fact.MinDomains {
			all[search.MoreNodes] = a.nodesToAdd(w, disruption.InDomain(t.Key, ""), 1, func(n int) string { return message.AddNodesIn(n, t.Key, "") })
		}
		n := max(1, fact.Domains)
		all[search.FewerDomains] = a.when(w, disruption.EachSpread(fmt.Sprint("minDomains ", n), t.Key, func(c *corev1.TopologySpreadConstraint) {
			domains := int32(n)
			c.MinDomains = &domains
		}), message.SetMinDomains(n))
	default:
		if fact.SmallestDomain != "" && !b.m.NodeByNode(t.Key, nil) {
			all[search.MoreNodes] = a.nodesToAdd(w, disruption.InDomain(t.Key, fact.SmallestDomain), 1, func(n int) string {
				return message.AddNodesIn(n, t.Key, fact.SmallestDomain)
			})
		}
		if fact.Smallest == 0 && t.Constraint.NodeTaintsPolicy == nil {
			all[search.HonorTaints] = a.when(w, disruption.EachSpread("honor", t.Key, func(c *corev1.TopologySpreadConstraint) {
				honor := corev1.NodeInclusionPolicyHonor
				c.NodeTaintsPolicy = &honor
			}), message.HonorTaints)
		}
	}
	return a.offer(s, all)
}

func (b limits) hostPort(w *workload.Workload, l *bound.Limit) {
	ports := b.m.Group(w).HostPorts
	_, at := portSpan(w, ports)
	s, excluded, more := b.frame(w, l, at)
	fact := facts.HostPort{
		Outcome: verdict(l), Pods: l.Pods, Port: int(ports[0].Port), Protocol: string(ports[0].Protocol), Nodes: l.Nodes, Eligible: l.Eligible,
		Pending: unplaced(l), Excluded: excluded, MoreExcluded: more, Growth: message.GrownPools(l.Growth),
	}
	if l.Exceeded {
		a := b.advisor()
		s = b.advised(s, w, fact, func(s Subject) Subject {
			return a.offer(s, tries{
				search.MoreNodes: a.nodesToAdd(w, disruption.Edit{}, unplaced(l), message.AddAnyNodes),
				search.FreePorts: a.when(w, disruption.NoHostPorts(), message.RemoveHostPort),
				search.FewerPods: a.lower(w, l),
			})
		})
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.HostPorts = append(b.HostPorts, fact)
}

// portSpan returns the first host port of the workload and its span. If there is none, the port is
// "".
func portSpan(w *workload.Workload, ports []model.HostPort) (string, diag.Span) {
	if len(ports) == 0 {
		return "", diag.Span{}
	}
	text := fmt.Sprintf("%d/%s", ports[0].Port, ports[0].Protocol)
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range w.SpecNode.Get(list).Items() {
			for _, p := range c.Get("ports").Items() {
				for _, field := range []string{"hostPort", "containerPort"} {
					if span := fieldSpan(w, p, field); !span.IsZero() && (field == "hostPort" || w.Spec.HostNetwork) {
						return text, span
					}
				}
			}
		}
	}
	return text, diag.Span{}
}

func (b limits) room(w *workload.Workload, l *bound.Limit) {
	fact := facts.Room{
		Outcome: verdict(l), Cause: "pods", Pods: l.Pods, Most: l.Most, Pending: unplaced(l), Resource: string(l.Binding),
		Nodes: l.Nodes, Eligible: l.Eligible, Growth: message.GrownPools(l.Growth),
	}
	for _, r := range b.m.Group(w).Requests {
		if r.Name == l.Binding {
			fact.Request = r.Quantity.String()
		}
	}
	s, _, _ := b.frame(w, l, requestSpan(w, l.Binding))
	if l.Exceeded {
		if w.LimitRange != nil {
			s = s.related(w.LimitRange.NameSpan(), "%s", message.SetsRequests(w.LimitRange.Name))
		}
		a := b.advisor()
		s = b.advised(s, w, fact, func(s Subject) Subject {
			return a.offer(s, tries{
				search.LowerRequests: func() string { return message.RequestLess(l.Binding) },
				search.FewerPods:     a.lower(w, l),
			})
		})
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Room = append(b.Room, fact)
}
