package check

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Kind names what keeps a pod off a node.
type Kind string

// The kinds, which decide the fields of a Refusal that are set.
const (
	// Deleted, Unreachable, Drained: the node is lost in that way.
	Deleted     Kind = "deleted"
	Unreachable Kind = "unreachable"
	Drained     Kind = "drained"
	// OtherNode: the pod's nodeName is NodeName, which is another node.
	OtherNode Kind = "other-node"
	// Excluded: the node fails Exclusion.
	Excluded Kind = "excluded"
	// PortTaken: a pod in place has Port.
	PortTaken Kind = "port-taken"
	// NoRoom: the node has too little Room left.
	NoRoom Kind = "no-room"
	// LacksSpreadKey: the node lacks the label Key of a spread constraint; Uneven: one more
	// pod would break Spread.
	LacksSpreadKey Kind = "lacks-spread-key"
	Uneven         Kind = "uneven"
	// Repelled: anti-affinity keeps the pod off; Repels says which. If the node also fails
	// required affinity, Unmet is set.
	Repelled Kind = "repelled"
	// NoCompany: the node does not satisfy required affinity; Unmet says which term.
	NoCompany Kind = "no-company"
)

// Refusal is one filter that keeps a pod off a node, with the reasons.
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

// Room is the amount of a requested resource that a node has left, or its pod slots if Resource
// is "".
type Room struct {
	Resource                 corev1.ResourceName
	Requested, Offered, Left resource.Quantity
	// Beside counts the pods on the node by workload, for at most three workloads; More
	// counts the pods of the others.
	Beside []Pods
	More   int
}

// Pods is a number of pods of a named workload.
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
	// Here is the number of matching pods in the domain, Smallest the fewest in any domain,
	// and MaxSkew that of the constraint.
	Here, Smallest, MaxSkew int
	// Domains is the number of domains if that is less than MinDomains; otherwise both are
	// 0.
	Domains, MinDomains int
}

// Repels is a term of required anti-affinity that keeps the pod out of the domain of
// Pods. Theirs is set if it is a term of these pods. Migration is set if it is no term of
// a manifest: the target of a migration needs another node (R-W25).
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

// RefusedByNobody is the reason for a node that no longer exists.
const RefusedByNobody certificate.Reason = "gone"

// lostAs holds the refusal of a lost node.
var lostAs = map[certificate.Meaning]Refusal{
	certificate.Gone:        {By: RefusedByNobody, Kind: Deleted},
	certificate.Unreachable: {By: certificate.RefusedByTaint, Kind: Unreachable},
	certificate.Drained:     {By: certificate.RefusedByCordon, Kind: Drained},
}

// Refusals returns the filters that keep one more pod of w off a node now, in the order
// in which the scheduler applies them. Filters that look at other pods are applied only
// if the node itself would take the pod.
func (s *State) Refusals(w *workload.Workload, n *topology.Node) []Refusal {
	i, ok := s.v.m.IndexOf(n.Name)
	if !ok {
		return []Refusal{lostAs[certificate.Gone]}
	}
	g := s.v.m.Groups[w]
	if all := s.alone(g, i); len(all) > 0 || s.v.refuses(g, i) == certificate.Takes {
		return all
	}
	all := s.load(g, i)
	if g.Spec.NodeName != "" { // a kubelet applies no rules about other pods (R-P8)
		return all
	}
	if r := s.uneven(g, i); r.Kind != "" {
		all = append(all, r)
	}
	r := Refusal{By: certificate.RefusedByAffinity}
	if t := s.v.unmet(g, n); t != nil {
		_, has := n.Labels[t.Key]
		r.Kind, r.Unmet = NoCompany, &Unmet{Domain: s.domain(t.Key, n), Lacks: !has, Term: t}
	}
	if s.v.repelled(g, n) {
		r.Kind, r.Repels = Repelled, s.repels(g, n)
	}
	if r.Kind != "" {
		all = append(all, r)
	}
	return all
}

// alone returns the refusals by filters that look at the node alone.
func (s *State) alone(g *model.Group, n int) []Refusal {
	lost := s.v.absent.from(n)
	if lost && s.v.absent.meaning == certificate.Gone {
		return []Refusal{lostAs[certificate.Gone]}
	}
	all := nodeLevel(model.NewFilter(g.Workload), s.v.m.Topology.Nodes[n])
	if lost {
		all = append(all, lostAs[s.v.absent.meaning])
	}
	return all
}

// load returns the refusals for lack of a port or of room.
func (s *State) load(g *model.Group, n int) []Refusal {
	var all []Refusal
	if s.v.portTaken(g, n) {
		all = append(all, s.taken(g, s.v.m.Topology.Nodes[n]))
	}
	if r, short := s.v.on[n].lacks(g, func(name corev1.ResourceName, kubelet bool) (int64, bool) { return s.v.offered(n, name, kubelet) }); short {
		all = append(all, s.noRoom(r, s.v.m.Topology.Nodes[n], s.v.on[n]))
	}
	return all
}

// nodeLevel returns the refusals by filters that look at labels, taints and names. If
// nodeName names another node, no other filter is applied.
func nodeLevel(f *model.Filter, n *topology.Node) []Refusal {
	p := f.Passes(n)
	if !p.Name {
		return []Refusal{{By: certificate.RefusedByName, Kind: OtherNode, NodeName: f.W.Spec.NodeName}}
	}
	var all []Refusal
	if !p.Schedulable {
		all = append(all, Refusal{By: certificate.RefusedByCordon, Kind: Excluded, Exclusion: model.Exclusion{Kind: model.Cordoned}})
	}
	if !p.Taints {
		if x := f.ExplainTaint(n); x.Kind == model.Tainted {
			all = append(all, Refusal{By: certificate.RefusedByTaint, Kind: Excluded, Exclusion: x})
		}
	}
	if !p.Selector {
		all = append(all, Refusal{By: certificate.RefusedBySelector, Kind: Excluded, Exclusion: f.ExplainSelector(n)})
	}
	return all
}

// name returns the name of a workload for people.
func (s *State) name(w *workload.Workload) string {
	of := s.v.m.Groups[w].Origin()
	return cmp.Or(s.called[w], s.called[of], of.String())
}

// taken names the first pod in place that has a port of the given group.
func (s *State) taken(g *model.Group, n *topology.Node) Refusal {
	for _, k := range s.on[n] {
		for _, taken := range s.v.m.Groups[s.pods[k].Workload].HostPorts {
			if i := slices.IndexFunc(g.HostPorts, taken.Conflicts); i >= 0 {
				return Refusal{By: certificate.RefusedByPort, Kind: PortTaken, Port: Port{g.HostPorts[i], s.name(s.pods[k].Workload)}}
			}
		}
	}
	return Refusal{By: certificate.RefusedByPort, Kind: PortTaken, Port: Port{HostPort: g.HostPorts[0]}}
}

// noRoom returns what a node with a load has left of a request, nil for slots.
func (s *State) noRoom(r *model.Request, n *topology.Node, on *load) Refusal {
	room, at := Room{}, map[string]int{}
	for _, k := range s.on[n] {
		name := s.name(s.pods[k].Workload)
		i, known := at[name]
		if !known {
			i, at[name] = len(room.Beside), len(room.Beside)
			room.Beside = append(room.Beside, Pods{Workload: name})
		}
		room.Beside[i].Count++
	}
	for _, p := range room.Beside[min(maxBeside, len(room.Beside)):] {
		room.More += p.Count
	}
	room.Beside = room.Beside[:min(maxBeside, len(room.Beside))]
	if r != nil {
		has, _ := model.Offered(n, r)
		room.Resource, room.Requested, room.Offered = r.Name, r.Quantity, n.Allocatable[r.Name]
		room.Left = model.Quantity(r.Name, max(has-on.uses(r.Name), 0), r.Quantity.Format)
	}
	return Refusal{By: certificate.RefusedByResources, Kind: NoRoom, Room: room}
}

// maxBeside bounds the workloads that are named.
const maxBeside = 3

// uneven returns the first spread constraint that one more pod would break, if there is
// one.
func (s *State) uneven(g *model.Group, n int) Refusal {
	node := s.v.m.Topology.Nodes[n]
	for _, key := range model.HardKeys(g) {
		if _, ok := node.Labels[key]; !ok {
			return Refusal{By: certificate.RefusedBySpread, Kind: LacksSpreadKey, Key: key}
		}
	}
	for t := range g.Hard(model.Spread) {
		if k := s.v.skew(g, t, n); !k.allowed() {
			spread := Spread{Domain: s.domain(t.Key, node), Here: k.here, Smallest: k.smallest, MaxSkew: int(t.Constraint.MaxSkew)}
			if least := t.MinDomains(); k.domains < least {
				spread.Domains, spread.MinDomains = k.domains, least
			}
			return Refusal{By: certificate.RefusedBySpread, Kind: Uneven, Spread: spread}
		}
	}
	return Refusal{}
}

// domain returns the domain of a node by a key. If a key makes every node a domain of its own,
// messages need not say which.
func (s *State) domain(key string, n *topology.Node) Domain {
	return Domain{key, n.Labels[key], model.Cached(s.single, key, func() bool { return s.v.m.NodeByNode(key, nil) })}
}
