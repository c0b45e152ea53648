package check

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Refusal is one filter that keeps a pod off a node, and why, in words that
// follow the node's name.
type Refusal struct {
	By  certificate.Reason
	Why string
}

// RefusedByNobody is the reason of a node that is not there any more.
const RefusedByNobody certificate.Reason = "gone"

// lostReasons are why a lost node takes no pod.
var lostReasons = map[certificate.Meaning]certificate.Reason{certificate.Gone: RefusedByNobody, certificate.Unreachable: certificate.RefusedByTaint, certificate.Drained: certificate.RefusedByCordon}

var lostTexts = map[certificate.Meaning]string{
	certificate.Gone: "is deleted", certificate.Unreachable: "is unreachable and has the taint " + corev1.TaintNodeUnreachable, certificate.Drained: "is cordoned for the drain",
}

// Refusals are the filters that keep one more pod of w off a node now, in the
// order in which the scheduler asks them; it stops at the first. Those that look
// at other pods are asked only if the node itself would do.
func (s *State) Refusals(w *workload.Workload, n *topology.Node) []Refusal {
	return s.refusals(w, n, true)
}

// refusals leaves out those of rules about other pods unless they are asked for.
func (s *State) refusals(w *workload.Workload, n *topology.Node, rules bool) []Refusal {
	if s.meaning == certificate.Gone && s.lost[n] {
		return []Refusal{{RefusedByNobody, lostTexts[certificate.Gone]}}
	}
	f := model.NewFilter(w)
	all := refusals(f, n)
	if s.lost[n] {
		all = append(all, Refusal{lostReasons[s.meaning], lostTexts[s.meaning]})
	}
	if len(all) > 0 {
		return all
	}
	g := s.m.Groups[w]
	for _, live := range liveFilters {
		if !(live.rule && (f.Bound() || !rules)) && live.refuses(s, g, n) {
			all = append(all, Refusal{live.by, live.why(s, g, n)})
		}
	}
	return all
}

// refusals are those of the node-level filters. Where nodeName names another
// node no other filter has a say.
func refusals(f *model.Filter, n *topology.Node) []Refusal {
	p := f.Passes(n)
	if !p.Name {
		return []Refusal{{certificate.RefusedByName, "is not node " + f.W.Spec.NodeName + " (nodeName)"}}
	}
	var all []Refusal
	if !p.Schedulable {
		all = append(all, Refusal{certificate.RefusedByCordon, "is cordoned"})
	}
	if !p.Taints {
		all = append(all, Refusal{certificate.RefusedByTaint, f.ExplainTaint(n).One})
	}
	if !p.Selector {
		all = append(all, Refusal{certificate.RefusedBySelector, f.ExplainSelector(n).One})
	}
	return all
}

// hidden tells whether a constraint does not count a node for the loss of it.
func (s *State) hidden(t *model.Term, n *topology.Node) bool {
	return s.lost[n] && (s.meaning == certificate.Gone || t.HonorsTaints())
}

// leaving tells whether a pod is terminating as its node is unreachable: no
// spread counts it (R-T4).
func (s *State) leaving(k int) bool {
	p := s.pods[k]
	return s.meaning == certificate.Unreachable && s.lost[p.Node] && !p.Workload.Kind.PerNode()
}

// name is what the texts call a workload.
func (s *State) name(w *workload.Workload) string {
	return cmp.Or(s.called[w], s.called[s.m.Groups[w].Origin()], s.m.Groups[w].Origin().String())
}

func (s *State) portText(g *model.Group, n *topology.Node) string {
	port, by, _ := s.portTaken(g, n)
	return fmt.Sprintf("has host port %d/%s in use by a pod of %s", port.Port, port.Protocol, s.name(by))
}

func (s *State) shortText(g *model.Group, n *topology.Node) string {
	lack := s.short(g, n)
	beside := s.beside(n)
	if lack.request == nil {
		return fmt.Sprintf("has no pod slot left%s", beside)
	}
	r := lack.request
	has := n.Allocatable[r.Name]
	if beside == "" {
		return fmt.Sprintf("has %s %s, and one pod requests %s", &has, r.Name, &r.Quantity)
	}
	left := model.Quantity(r.Name, max(lack.left, 0), r.Quantity.Format)
	return fmt.Sprintf("has %s of %s %s left%s, and one pod requests %s", &left, &has, r.Name, beside, &r.Quantity)
}

// maxBeside bounds the workloads that a text names.
const maxBeside = 3

// beside counts what is on a node, or is "".
func (s *State) beside(n *topology.Node) string {
	var names []string
	count := map[string]int{}
	for _, k := range s.on[n] {
		name := s.name(s.pods[k].Workload)
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	more, others := 0, max(len(names)-maxBeside, 0)
	for _, name := range names[len(names)-others:] {
		more += count[name]
	}
	parts := make([]string, len(names)-others)
	for i := range parts {
		parts[i] = podsOf(count[names[i]], names[i])
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return " next to " + strings.Join(parts, ", ")
}

// tallied is what a spread constraint counts, by domain, and the smallest count.
type tallied struct {
	counts   map[string]int
	smallest int
}

// tallied is spreadCounts, once for all nodes if that may be kept: only the pods
// of a DaemonSet see different counts from different nodes.
func (s *State) tallied(g *model.Group, t *model.Term, keys []string, n *topology.Node) (counts map[string]int, smallest int) {
	if s.kept == nil || g.Kind.PerNode() || t.Sel.Local() {
		return s.spreadCounts(g, t, keys, n)
	}
	all, known := s.kept[t]
	if !known {
		all.counts, all.smallest = s.spreadCounts(g, t, keys, n)
		s.kept[t] = all
	}
	return all.counts, all.smallest
}

func (s *State) unevenText(g *model.Group, n *topology.Node) string {
	k := s.uneven(g, n)
	if k.term == nil {
		return fmt.Sprintf("lacks the label %s, which the topologySpreadConstraint needs", k.key)
	}
	fewest := fmt.Sprintf("the minimum of any value is %d", k.smallest)
	if least := k.term.MinDomains(); k.domains < least {
		fewest = fmt.Sprintf("with %d of minDomains %d values the minimum counts as 0", k.domains, least)
	}
	domain := "has"
	if !s.alone(k.key) {
		domain = fmt.Sprintf("is in %s=%s with", k.key, n.Labels[k.key])
	}
	return fmt.Sprintf("%s %d matching pods, %s: one more exceeds maxSkew %d on %s", domain, k.here, fewest, k.term.Constraint.MaxSkew, k.key)
}

func (s *State) affinityText(g *model.Group, n *topology.Node) string {
	var parts []string
	if h, hit := s.antiAffinityHit(g, n); hit {
		parts = append(parts, s.hitText(h, n))
	}
	if t := s.unmet(g, n); t != nil {
		parts = append(parts, s.unmetText(t, n))
	}
	return strings.Join(parts, "; ")
}

func (s *State) unmetText(t *model.Term, n *topology.Node) string {
	value, ok := n.Labels[t.Key]
	switch {
	case !ok:
		return fmt.Sprintf("lacks the label %s, which the required affinity needs", t.Key)
	case s.alone(t.Key):
		return fmt.Sprintf("runs no pod that the required affinity selects (%s)", t.Selector())
	}
	return fmt.Sprintf("is in %s=%s without a pod that the required affinity selects (%s)", t.Key, value, t.Selector())
}

// alone reports whether every node is a domain of its own by a key, so that the
// texts need not say which.
func (s *State) alone(key string) bool {
	alone, known := s.single[key]
	if !known {
		if s.single == nil {
			s.single = map[string]bool{}
		}
		alone = s.m.NodeByNode(key, nil)
		s.single[key] = alone
	}
	return alone
}

func podsOf(n int, who string) string {
	if n == 1 {
		return "1 pod of " + who
	}
	return fmt.Sprintf("%d pods of %s", n, who)
}

// hitText says which pod in place is in the way, and by whose rule.
func (s *State) hitText(h hit, n *topology.Node) string {
	rule := "required anti-affinity on " + h.key
	switch {
	case h.term == nil:
		rule = "the migration target needs another node"
	case h.its:
		rule = "its " + rule
	}
	of := s.m.Groups[h.pod.Workload].Origin()
	same := func(w *workload.Workload) bool { return w == h.pod.Workload || s.m.Groups[w].Origin() == of }
	pods := 0
	for _, p := range s.pods {
		if same(p.Workload) && model.SameDomain(n, p.Node, h.key) {
			pods++
		}
	}
	who := podsOf(pods, s.name(h.pod.Workload))
	if s.alone(h.key) {
		return fmt.Sprintf("runs %s: %s", who, rule)
	}
	return fmt.Sprintf("is in %s=%s with %s: %s", h.key, n.Labels[h.key], who, rule)
}
