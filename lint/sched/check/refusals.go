package check

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Kind is what keeps a pod off a node.
type Kind string

// The kinds: which fields of a Refusal are set.
const (
	// Deleted, Unreachable, Drained: the node is lost in that way.
	Deleted     Kind = "deleted"
	Unreachable Kind = "unreachable"
	Drained     Kind = "drained"
	// OtherNode: nodeName is NodeName, which is another node.
	OtherNode Kind = "other-node"
	// Excluded: the node fails Exclusion.
	Excluded Kind = "excluded"
	// PortTaken: a pod in place has Port.
	PortTaken Kind = "port-taken"
	// NoRoom: the node has too little Room left.
	NoRoom Kind = "no-room"
	// LacksSpreadKey: the node lacks the label Key of a spread constraint; Uneven: one
	// more pod would break Spread.
	LacksSpreadKey Kind = "lacks-spread-key"
	Uneven         Kind = "uneven"
	// Repelled: anti-affinity keeps the pod off, as in Repels. The node may not meet
	// required affinity, either: that is Unmet then.
	Repelled Kind = "repelled"
	// NoCompany: the node does not meet required affinity, as in Unmet.
	NoCompany Kind = "no-company"
)

// Refusal is one filter that keeps a pod off a node, and what that rests on.
type Refusal struct {
	By        certificate.Reason
	Kind      Kind
	NodeName  string
	Exclusion model.Exclusion
	Port      Port
	Room      Room
	Key       string
	Spread    Spread
	Repels    Repels
	Unmet     *Unmet
}

// Port is a host port that a pod of the workload named By has.
type Port struct {
	model.HostPort
	By string
}

// Room is what a node has left of what one pod requests. It is about pod slots if
// Resource is "".
type Room struct {
	Resource                 corev1.ResourceName
	Requested, Offered, Left resource.Quantity
	// Beside are the pods on the node, by workload, at most three of these; More counts
	// the pods of the others.
	Beside []Pods
	More   int
}

// Pods is a number of pods of the workload with a name.
type Pods struct {
	Workload string
	Count    int
}

// Domain is a value of a topology key. Single is set if every node is a domain of its
// own.
type Domain struct {
	Key, Value string
	Single     bool
}

// Spread is a constraint that one more pod in a domain would break.
type Spread struct {
	Domain
	// Here is how many matching pods the domain has, Smallest the fewest in any, and
	// MaxSkew that of the constraint.
	Here, Smallest, MaxSkew int
	// Domains is how many there are where they are fewer than MinDomains; else both
	// are 0.
	Domains, MinDomains int
}

// Repels is a term of required anti-affinity that keeps the pod out of the domain of
// Pods. Theirs tells that it is a term of these. Migration is set where it is none of a
// manifest: the target of a migration needs another node (R-W25).
type Repels struct {
	Domain
	Pods              Pods
	Theirs, Migration bool
}

// Unmet is a term of required affinity. Lacks is set if the node lacks its key.
type Unmet struct {
	Domain
	Lacks bool
	Term  *model.Term
}

// RefusedByNobody is the reason of a node that is not there any more.
const RefusedByNobody certificate.Reason = "gone"

// lostAs is what a lost node says to a pod.
var lostAs = map[certificate.Meaning]Refusal{
	certificate.Gone:        {By: RefusedByNobody, Kind: Deleted},
	certificate.Unreachable: {By: certificate.RefusedByTaint, Kind: Unreachable},
	certificate.Drained:     {By: certificate.RefusedByCordon, Kind: Drained},
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
		return []Refusal{lostAs[certificate.Gone]}
	}
	f := model.NewFilter(w)
	all := refusals(f, n)
	if s.lost[n] {
		all = append(all, lostAs[s.meaning])
	}
	if len(all) > 0 {
		return all
	}
	g := s.m.Groups[w]
	for _, live := range liveFilters {
		if !(live.rule && (f.Bound() || !rules)) && live.refuses(s, g, n) {
			r := live.why(s, g, n)
			r.By = live.by
			all = append(all, r)
		}
	}
	return all
}

// refusals are those of the node-level filters. Where nodeName names another
// node no other filter has a say.
func refusals(f *model.Filter, n *topology.Node) []Refusal {
	p := f.Passes(n)
	if !p.Name {
		return []Refusal{{By: certificate.RefusedByName, Kind: OtherNode, NodeName: f.W.Spec.NodeName}}
	}
	var all []Refusal
	if !p.Schedulable {
		all = append(all, Refusal{By: certificate.RefusedByCordon, Kind: Excluded, Exclusion: model.Exclusion{Kind: model.Cordoned}})
	}
	if !p.Taints {
		all = append(all, Refusal{By: certificate.RefusedByTaint, Kind: Excluded, Exclusion: f.ExplainTaint(n)})
	}
	if !p.Selector {
		all = append(all, Refusal{By: certificate.RefusedBySelector, Kind: Excluded, Exclusion: f.ExplainSelector(n)})
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

// name is what a workload is called.
func (s *State) name(w *workload.Workload) string {
	return cmp.Or(s.called[w], s.called[s.m.Groups[w].Origin()], s.m.Groups[w].Origin().String())
}

func (s *State) whyPort(g *model.Group, n *topology.Node) Refusal {
	port, by, _ := s.portTaken(g, n)
	return Refusal{Kind: PortTaken, Port: Port{port, s.name(by)}}
}

func (s *State) whyShort(g *model.Group, n *topology.Node) Refusal {
	lack := s.short(g, n)
	room := Room{}
	room.Beside, room.More = s.beside(n)
	if r := lack.request; r != nil {
		room.Resource, room.Requested, room.Offered = r.Name, r.Quantity, n.Allocatable[r.Name]
		room.Left = model.Quantity(r.Name, max(lack.left, 0), r.Quantity.Format)
	}
	return Refusal{Kind: NoRoom, Room: room}
}

// maxBeside bounds the workloads that are named.
const maxBeside = 3

// beside counts the pods on a node, and those of the workloads that are not named.
func (s *State) beside(n *topology.Node) (named []Pods, more int) {
	at := map[string]int{}
	var all []Pods
	for _, k := range s.on[n] {
		name := s.name(s.pods[k].Workload)
		i, known := at[name]
		if !known {
			i, at[name] = len(all), len(all)
			all = append(all, Pods{Workload: name})
		}
		all[i].Count++
	}
	named = all[:min(maxBeside, len(all))]
	for _, p := range all[len(named):] {
		more += p.Count
	}
	return named, more
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

func (s *State) whyUneven(g *model.Group, n *topology.Node) Refusal {
	k := s.uneven(g, n)
	if k.term == nil {
		return Refusal{Kind: LacksSpreadKey, Key: k.key}
	}
	spread := Spread{Domain: s.domain(k.key, n), Here: k.here, Smallest: k.smallest, MaxSkew: int(k.term.Constraint.MaxSkew)}
	if least := k.term.MinDomains(); k.domains < least {
		spread.Domains, spread.MinDomains = k.domains, least
	}
	return Refusal{Kind: Uneven, Spread: spread}
}

func (s *State) whyAffinity(g *model.Group, n *topology.Node) Refusal {
	r := Refusal{Kind: NoCompany}
	if h, hit := s.antiAffinityHit(g, n); hit {
		r.Kind, r.Repels = Repelled, s.repels(h, n)
	}
	if t := s.unmet(g, n); t != nil {
		_, has := n.Labels[t.Key]
		r.Unmet = &Unmet{Domain: s.domain(t.Key, n), Lacks: !has, Term: t}
	}
	return r
}

// domain is that of a node by a key.
func (s *State) domain(key string, n *topology.Node) Domain {
	return Domain{key, n.Labels[key], s.alone(key)}
}

// alone reports whether every node is a domain of its own by a key, so that
// nobody needs to be told which.
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

// repels is which pods in place keep one more off a node, and by whose rule.
func (s *State) repels(h hit, n *topology.Node) Repels {
	of := s.m.Groups[h.pod.Workload].Origin()
	same := func(w *workload.Workload) bool { return w == h.pod.Workload || s.m.Groups[w].Origin() == of }
	r := Repels{Domain: s.domain(h.key, n), Pods: Pods{Workload: s.name(h.pod.Workload)}, Theirs: h.its, Migration: h.term == nil}
	for _, p := range s.pods {
		if same(p.Workload) && model.SameDomain(n, p.Node, h.key) {
			r.Pods.Count++
		}
	}
	return r
}
