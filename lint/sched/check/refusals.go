package check

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Kind identifies why a node rejects a pod.
type Kind string

// The reasons for rejecting a pod. Each one determines which Refusal fields are set.
const (
	// Deleted, Unreachable and Drained say how the node was lost.
	Deleted     Kind = "deleted"
	Unreachable Kind = "unreachable"
	Drained     Kind = "drained"
	// OtherNode means that the pod's nodeName names another node, NodeName.
	OtherNode Kind = "other-node"
	// Stranded means that the volume of a lost pod cannot be used on the node, because the node has
	// another value of the label Key than the pod's first node.
	Stranded Kind = "stranded"
	// Excluded means that the node fails the filter that Exclusion describes.
	Excluded Kind = "excluded"
	// PortTaken means that a pod in place uses the host port that the field Port describes.
	PortTaken Kind = "port-taken"
	// NoRoom means that the node has too little left of the resource in Room.
	NoRoom Kind = "no-room"
	// LacksSpreadKey means that the node lacks the label Key, which a spread constraint requires.
	// Uneven means that one more pod would violate the constraint in Spread.
	LacksSpreadKey Kind = "lacks-spread-key"
	Uneven         Kind = "uneven"
	// Repelled means that the anti-affinity term in Repels keeps the pod off the node. Unmet is set
	// if the node also fails required affinity.
	Repelled Kind = "repelled"
	// InUse means that a pod in place uses the claim Key, which one pod can use at a time.
	InUse Kind = "in-use"
	// NoCompany means that the node does not satisfy the required affinity term in Unmet.
	NoCompany Kind = "no-company"
)

// Refusal describes one filter that makes a node reject a pod.
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

// Port is a host port in use by a pod. By is the name of the pod's workload.
type Port struct {
	model.HostPort
	By string
}

// Room describes how much of a requested resource is left on a node. If Resource is "", the node
// has no pod slots left.
type Room struct {
	Resource                 corev1.ResourceName
	Requested, Offered, Left resource.Quantity
	// Reserved is the amount that the pool reserves. Offered is without it.
	Reserved resource.Quantity
	// AtMost is set if the node has Offered before it reserves some of it.
	AtMost bool
	// Beside lists the pods on the node by workload, for at most three workloads. More counts the
	// pods of the remaining workloads.
	Beside []Pods
	More   int
}

// Pods is a workload's pod count.
type Pods struct {
	Workload string
	Count    int
}

// Domain is one value of a topology key. Single is set if every node has its own value for the
// key.
type Domain struct {
	Key, Value string
	Single     bool
}

// Spread describes a spread constraint that one more pod in a domain would violate.
type Spread struct {
	Domain
	// Here is the number of matching pods in the domain, Smallest is the smallest number in any
	// domain, and MaxSkew is the maximum skew of the constraint.
	Here, Smallest, MaxSkew int
	// Domains is the number of domains if it is less than MinDomains. Otherwise, both fields are 0.
	Domains, MinDomains int
}

// Repels describes a required anti-affinity term that keeps the pod out of a domain where Pods are
// placed. Theirs is set if the term belongs to those pods. Migration is set if a migration excludes
// the pod, because the migration's target needs a different node (R-W25).
type Repels struct {
	Domain
	Pods              Pods
	Theirs, Migration bool
}

// Unmet is a required affinity term that a node does not satisfy. Lacks is set if the node lacks
// the term's topology key.
type Unmet struct {
	Domain
	Lacks bool
	Term  *model.Term
}

// RefusedByNobody is the reason given for nodes that no longer exist.
const RefusedByNobody certificate.Reason = "gone"

// lostAs maps each kind of node loss to the refusal that describes a node lost in this way.
var lostAs = map[certificate.Meaning]Refusal{
	certificate.Gone:        {By: RefusedByNobody, Kind: Deleted},
	certificate.Unreachable: {By: certificate.RefusedByTaint, Kind: Unreachable},
	certificate.Drained:     {By: certificate.RefusedByCordon, Kind: Drained},
}

// Refusals returns the filters that currently make a node reject one more pod of w, in the
// scheduler's order. If filters that depend only on the node reject the pod, it applies no other
// filters.
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
	if claim := s.v.claimed(g); claim != "" {
		all = append(all, Refusal{By: certificate.RefusedByRestrictions, Kind: InUse, Key: claim})
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

// alone returns the refusals by filters that depend only on the node.
func (s *State) alone(g *model.Group, n int) []Refusal {
	lost := s.v.absent.from(n)
	if lost && s.v.absent.meaning == certificate.Gone {
		return []Refusal{lostAs[certificate.Gone]}
	}
	all := nodeLevel(model.NewFilter(g.Workload), s.v.m.Topology.Nodes[n])
	if lost {
		all = append(all, lostAs[s.v.absent.meaning])
	} else if s.v.absent.strands(s.v.m, g, n) {
		all = append(all, Refusal{By: certificate.RefusedByVolume, Kind: Stranded, Key: g.Pin})
	}
	return all
}

// load returns the refusals due to taken ports or a lack of resources.
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

// nodeLevel returns the refusals by filters on labels, taints and names. If nodeName names another
// node, no other filter applies.
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
	if !p.Volume {
		all = append(all, Refusal{By: certificate.RefusedByVolume, Kind: Excluded, Exclusion: f.ExplainVolume(n)})
	} else if !p.Zone {
		all = append(all, Refusal{By: certificate.RefusedByZone, Kind: Excluded, Exclusion: f.ExplainVolume(n)})
	}
	return all
}

// name returns the name of a workload for messages.
func (s *State) name(w *workload.Workload) string {
	of := s.v.m.Groups[w].Origin()
	return cmp.Or(s.called[w], s.called[of], of.String())
}

// taken returns a refusal that names the first placed pod with a port that g requests.
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

// noRoom returns a refusal for a node with too little room for request r, given the node's load. If
// r is nil, the node has no pod slot left.
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
		by := *r
		if e := model.Exceeding(r.Name); e != nil {
			by.Name, by.Amount = e.Name, e.Amount
		}
		has, _ := model.Offered(n, &by)
		_, room.AtMost = n.AtMost(by.Name)
		room.Resource, room.Requested, room.Offered, room.Reserved = by.Name, r.Quantity, model.Listed(n, by.Name), n.Reserved[by.Name]
		room.Left = model.Quantity(by.Name, max(has-on.uses(by.Name), 0), r.Quantity.Format)
	}
	return Refusal{By: shortOf(r), Kind: NoRoom, Room: room}
}

// maxBeside is the maximum number of workloads that Room.Beside names.
const maxBeside = 3

// uneven returns a refusal for the first spread constraint that one more pod would violate. The
// refusal's Kind is empty if there is no such constraint.
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

// domain returns a node's domain for a key. If the key makes every node its own domain, Single is
// set.
func (s *State) domain(key string, n *topology.Node) Domain {
	return Domain{key, n.Labels[key], lazy.Cached(s.single, key, func() bool { return s.v.m.NodeByNode(key, nil) })}
}
