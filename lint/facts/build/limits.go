package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// limits tells what keeps the pods of one workload from being placed.
type limits struct{ *builder }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func names(nodes []*topology.Node) string {
	var list []string
	for _, n := range nodes[:min(3, len(nodes))] {
		list = append(list, n.Name)
	}
	if len(nodes) > 3 {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}

// limits tells how many pods each hard rule lets be placed.
func (b limits) limits(w *workload.Workload) {
	if !b.complete && bound.Fits(b.m, w) {
		return
	}
	for _, l := range bound.Capacity(b.m, w) {
		if w.Finite() && l.Most > 0 { // those beyond run once others have ended
			l.Exceeded, l.Grows = false, false
		}
		if b.spare(!l.Exceeded && !l.Grows) {
			continue
		}
		b.faulty[w] = b.faulty[w] || l.Exceeded
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
		if note := fmt.Sprintf("%s fits only if node pools grow beyond their count (%s): %s fit at count, %s to schedule",
			w, message.Sizes(l.Growth), plural(l.AtCount, "pod"), plural(l.Pods, "pod")); l.Grows && !slices.Contains(b.notes, note) {
			b.notes = append(b.notes, note)
		}
	}
}

// frame starts the subject of a limit: its first key, the number of pods and,
// if the limit is exceeded, the nodes that do not count.
func (b limits) frame(w *workload.Workload, l *bound.Limit, at diag.Span) (Subject, []string) {
	s := alone(w, at)
	if !l.Exceeded {
		return s, []string{}
	}
	if count := w.CountSpan(); count != s.Location {
		s = s.related(count, "%s to schedule", plural(l.Pods, "pod"))
	}
	return excluded(b.m, s, w, true)
}

func verdict(l *bound.Limit) diag.Outcome {
	if l.Exceeded {
		return diag.Never
	}
	return diag.Always
}

// unplaced is how many pods stay pending because of a limit.
func unplaced(l *bound.Limit) int { return max(0, l.Pods-l.Most) }

func growth(l *bound.Limit) string { return message.Growth(l.Growth) }

func (b limits) antiAffinity(w *workload.Workload, l *bound.Limit) {
	s, excluded := b.frame(w, l, w.File().ItemSpan(l.Terms[0].Node))
	fact := facts.AntiAffinity{
		Workload: w.String(), Outcome: verdict(l), Pods: l.Pods, Domains: l.Domains, Most: l.Most, Pending: unplaced(l),
		Nodes: l.Nodes, Eligible: l.Eligible, Excluded: excluded, Growth: growth(l), Together: message.Together(l.Together),
	}
	var keys []string
	for i, t := range l.Terms {
		if !slices.Contains(keys, t.Key) {
			keys = append(keys, t.Key)
		}
		if i > 0 && l.Exceeded {
			s = s.related(w.File().ItemSpan(t.Node), "this term also keeps the pods apart")
		}
	}
	fact.Key = strings.Join(keys, ", ")
	if l.Exceeded {
		s = b.advised(s, w, fact, func(s Subject) Subject { return b.antiAffinityFix(s, w, l, keys[0]) })
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.AntiAffinity = append(b.AntiAffinity, fact)
}

func (b limits) antiAffinityFix(s Subject, w *workload.Workload, l *bound.Limit, key string) Subject {
	s = b.advisor().lower(s, w, l)
	if n, ok := b.advisor().nodesToAdd(w, unplaced(l)); ok {
		s = s.fix("%s", addNodes(n, key))
	}
	if b.advisor().holds(w, disruption.SoftAntiAffinity(), 0) {
		s = s.fix("make the anti-affinity preferred if pods may share a %s value", key)
	}
	return s
}

// addNodes asks for nodes with a domain of their own.
func addNodes(n int, key string) string {
	text, value := "add an eligible node", fmt.Sprintf(" with a new %s value", key)
	if n > 1 {
		text, value = fmt.Sprintf("add %d eligible nodes", n), fmt.Sprintf(", each with a new %s value", key)
	}
	if key == corev1.LabelHostname {
		return text
	}
	return text + value
}

func (b limits) spread(w *workload.Workload, l *bound.Limit) {
	t := l.Terms[0]
	at := w.File().ItemSpan(t.Node)
	if l.Cause == "missing-key" {
		at = fieldSpan(w, t.Node, "topologyKey")
	}
	s, excluded := b.frame(w, l, at)
	fact := facts.Spread{
		Workload: w.String(), Outcome: verdict(l), Cause: l.Cause, Pods: l.Pods, Key: t.Key, Keys: listed(b.m.Group(w).SpreadKeys()), MaxSkew: int(t.Constraint.MaxSkew), MinDomains: t.MinDomains(),
		Domains: l.EligibleDomains, Smallest: l.Smallest, SmallestDomain: l.SmallestDomain, Most: l.Most, Pending: unplaced(l),
		Nodes: l.Nodes, Eligible: l.Eligible, Excluded: excluded, Growth: growth(l),
	}
	if l.Exceeded {
		if l.Cause == "missing-key" {
			fact.Suggestion = b.suggest(t.Key)
		}
		s = b.advised(s, w, fact, func(s Subject) Subject { return b.spreadFix(s, w, l, &fact) })
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Spreads = append(b.Spreads, fact)
}

// maxListed bounds the names in one text of a fact.
const maxListed = 20

// listed names things, as far as they are not too many.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (b limits) spreadFix(s Subject, w *workload.Workload, l *bound.Limit, fact *facts.Spread) Subject {
	t := l.Terms[0]
	switch l.Cause {
	case "missing-key":
		if fact.Suggestion != "" {
			s.Fixes = append(s.Fixes, b.advisor().corrected(w, t, fact.Suggestion))
			return s
		}
		return s.fix("label the nodes with %s", t.Key)
	case "min-domains":
		if span := fieldSpan(w, t.Node, "minDomains"); !span.IsZero() {
			s = s.related(span, "minDomains requires %s, eligible nodes have %d", plural(fact.MinDomains, "domain"), fact.Domains)
		}
		if n := max(1, fact.Domains); b.advisor().holds(w, minDomains(t.Key, n), 0) {
			s = s.fix("set minDomains to %d", n)
		}
	default:
		if fact.Smallest == 0 && t.Constraint.NodeTaintsPolicy == nil && b.advisor().holds(w, honored(t.Key), 0) {
			s = s.fix("set nodeTaintsPolicy: Honor so that tainted nodes do not count as empty domains")
		}
	}
	s = b.advisor().lower(s, w, l)
	if b.advisor().holds(w, softSpread(t.Key), 0) {
		s = s.fix("set whenUnsatisfiable: ScheduleAnyway if a larger skew is acceptable")
	}
	return s
}

func (b limits) hostPort(w *workload.Workload, l *bound.Limit) {
	port, at := portSpan(w, b.m.Group(w).HostPorts)
	s, excluded := b.frame(w, l, at)
	fact := facts.HostPort{
		Workload: w.String(), Outcome: verdict(l), Pods: l.Pods, Port: port, Nodes: l.Nodes, Eligible: l.Eligible,
		Pending: unplaced(l), Excluded: excluded, Growth: growth(l),
	}
	if l.Exceeded {
		s = b.advised(s, w, fact, func(s Subject) Subject { return b.hostPortFix(s, w, l) })
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.HostPorts = append(b.HostPorts, fact)
}

func (b limits) hostPortFix(s Subject, w *workload.Workload, l *bound.Limit) Subject {
	s = b.advisor().lower(s, w, l)
	if b.advisor().holds(w, disruption.NoHostPorts(), 0) {
		s = s.fix("remove the host port and use a Service")
	}
	if n, ok := b.advisor().nodesToAdd(w, unplaced(l)); ok {
		s = s.fix("add %s", plural(n, "node"))
	}
	return s
}

// portSpan is the first host port of the workload and its place; "" if it has none.
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
		Workload: w.String(), Outcome: verdict(l), Pods: l.Pods, Pending: unplaced(l), Room: "capacity for only " + plural(l.Most, "pod"),
		Resource: string(l.Binding), Request: "one pod slot each", Nodes: l.Nodes, Eligible: l.Eligible, Growth: growth(l),
	}
	for _, r := range b.m.Group(w).Requests {
		if r.Name == l.Binding {
			fact.Request = fmt.Sprintf("%s %s each", &r.Quantity, r.Name)
		}
	}
	s, _ := b.frame(w, l, requestSpan(w, l.Binding))
	if l.Exceeded {
		s = b.advised(s, w, fact, func(s Subject) Subject {
			return b.advisor().lower(s, w, l).fix("request less %s or add nodes", l.Binding)
		})
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Room = append(b.Room, fact)
}
