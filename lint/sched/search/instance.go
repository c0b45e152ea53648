package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// podGroup is a set of pods that are equal in everything that decides placement: the pods
// of a workload, or the one that a DaemonSet has on one node.
type podGroup struct {
	g    *model.Group
	pods int
	// kubelet is set for pods that are bound by their manifest: they pass only the kubelet's
	// admission (R-P8).
	kubelet bool
	// pinned is the only node of a pod of a DaemonSet.
	pinned int
	// nodes are the nodes that pass the node-level filters and hold at least one pod when
	// empty. Pod groups with equal node rules and requests share the set.
	nodes *nodeSet
	// ask is the request of a pod for each resource of the instance.
	ask []int64
	// exclusions lists what keeps a pod out of a domain: pods of another pod group, or of its
	// own, in the same domain of a key. It is symmetric (R-A5 to R-A7).
	exclusions []exclusion
	// affinityKeys lists the keys of required affinity, which pods of the pod groups in peers
	// satisfy; first is set if a pod may be the first one (R-A9 to R-A14).
	affinityKeys []int
	peers        []located
	first        bool
	// spreads are the hard constraints; keys are all their keys, which a node must carry.
	spreads []*constraint
	keys    []int
	keysID  string // equal for equal keys
	// ports are the host ports that a pod takes, taken the same in order, and clashes, in
	// order, the ports that each keep it off a node.
	ports, taken, clashes []int
	// createdAfter is the pod group that must be placed before this one is created, or nil; placed
	// is the number of pods in place.
	createdAfter *podGroup
	placed       int
	// unsure lists pod groups that a hard term of this one may or may not select, because it
	// asks for a label value that only the cluster knows.
	unsure []int
	// maybe lists what apart would add if such terms of anti-affinity select; vague is set
	// if such a term of another use belongs to this pod group.
	maybe []exclusion
	vague bool
	// open is set if a hard term may count on pods that take no part.
	open bool
	// cost is the number of steps to ask whether a node takes a pod, moved that of placing
	// one.
	cost, moved int
}

// exclusion says that a pod must not share a domain of the key with pods of the pod group
// that are at the place.
type exclusion struct{ key, unit, place int }

// located is a pod group, restricted to its pods at a place: an index into the instance's
// places. Place 0 is everywhere.
type located struct{ unit, place int }

// constraint is a hard spread constraint ready to be evaluated (R-T1 to R-T7).
type constraint struct {
	key, maxSkew, minDomains int
	// self is 1 if the pod counts itself.
	self int
	// counted marks the nodes whose pods count; domains lists the domains of these nodes.
	counted []bool
	domains []int
	// watch lists the pod groups whose pods count.
	watch []located
	// count is the number of counting pods in each domain of the key, in the current state
	// of the instance.
	count []int32
}

// instance is a Model in numbers: nodes, keys and pod groups are indices.
type instance struct {
	m     *model.Model
	nodes []*topology.Node
	keys  []string
	// domain is the domain of a node for a key, or -1; sizes is the number of domains.
	domain [][]int32
	sizes  []int
	units  []*podGroup
	// resources by index; the last one is the pod slots.
	resources []corev1.ResourceName
	hostPorts []model.HostPort
	unitsOf   map[*workload.Workload][]int
	// places are sets of nodes: a selector may match pods of a pod group only on some nodes,
	// whose zone they get as a label. The first is nil, for all nodes.
	places [][]bool
	// contend is unset for the rules verdict, where pods do not compete for resources.
	contend     bool
	doubts      []model.Doubt
	needed      []bool // pod groups that others require nearby, filled in on first use
	unplaceable []bool // pod groups whose pods are never placed, because their peers never are (T20)
}

// keyed is the counter of one pod group at a place, with its key.
type keyed struct {
	key, place int
	*counter
}

// watcher is a constraint that counts the pods of a pod group at a place.
type watcher struct {
	*constraint
	place int
}

// within reports whether every domain of one key lies in one domain of another, on the
// nodes of the pod group.
func (a *state) within(u *podGroup, inner, outer int) bool {
	p := a.all(u)
	id := [2]int{inner, outer}
	return model.Cached(p.within, id, func() bool { return a.lieWithin(u, inner, outer) })
}

func (a *instance) lieWithin(u *podGroup, inner, outer int) bool {
	const unseen = -2 // -1 marks nodes without the outer key
	of := slices.Repeat([]int32{unseen}, a.sizes[inner])
	for _, n := range u.nodes.list {
		fine, coarse := a.domain[inner][n], a.domain[outer][n]
		if fine < 0 {
			continue
		}
		if was := of[fine]; was != unseen && was != coarse {
			return false
		}
		of[fine] = coarse
	}
	return true
}

// others returns how many pods of pod group j can block a further pod of i, own of whose
// pods are placed already.
func (a *instance) others(i, j, own int) int {
	switch {
	case i == j:
		return own
	case a.unplaceable[j]:
		return 0
	case a.units[j].g.Running:
		return 1
	}
	return a.units[j].pods
}

// findUnplaceable finds the pod groups whose pods are never placed (T20): only pods of such
// groups are peers for their required affinity, and none may come first. What depends
// on the cluster is not among them.
func (a *instance) findUnplaceable() {
	a.unplaceable = make([]bool, len(a.units))
	var left []int
	for i, u := range a.units {
		if len(u.affinityKeys) > 0 && !u.first && !u.open && len(u.unsure) == 0 && !u.g.Running {
			a.unplaceable[i] = true
			left = append(left, i)
		}
	}
	for again := true; again; {
		before := len(left)
		left = slices.DeleteFunc(left, func(i int) bool {
			a.m.Run().Spend(1 + len(a.units[i].peers)/model.PerStep)
			a.unplaceable[i] = !slices.ContainsFunc(a.units[i].peers, func(j located) bool { return !a.unplaceable[j.unit] })
			return !a.unplaceable[i]
		})
		again = len(left) < before
	}
}

// binding returns the spread constraints of a pod group that may refuse a pod. A
// constraint cannot if all pods that count, put in one domain, are within the skew.
func (a *instance) binding(i int) []*constraint {
	u := a.units[i]
	return slices.DeleteFunc(slices.Clone(u.spreads), func(s *constraint) bool {
		pods := s.self
		for _, j := range s.watch {
			pods += a.others(i, j.unit, u.pods-1)
		}
		return pods <= s.maxSkew
	})
}

func (a *instance) placed(path []step) []certificate.Placed {
	all := make([]certificate.Placed, len(path))
	for i, s := range path {
		all[i] = certificate.Placed{Workload: a.units[s.unit].g.Workload, Node: a.nodes[s.node]}
	}
	return all
}

// wanted reports whether some pod group needs the pods of this one near.
func (a *instance) wanted(i int) bool {
	if a.needed == nil {
		a.needed = make([]bool, len(a.units))
		for _, u := range a.units {
			for _, j := range u.peers {
				a.needed[j.unit] = true
			}
		}
	}
	return a.needed[i]
}

// bulk returns a pod's request for the first resource, CPU in most inputs; room returns
// what a node has left of it. That is good enough to choose what to try first.
func (a *instance) bulk(i int) int64 { return a.units[i].ask[0] }

func (a *instance) carries(n int, keys []int) bool {
	for _, k := range keys {
		if a.domain[k][n] < 0 {
			return false
		}
	}
	return true
}

// inPlace reports whether a node is in a place.
func (a *instance) inPlace(n, place int) bool { return place == 0 || a.places[place][n] }

// nodeSet is a set of nodes.
type nodeSet struct {
	list []int32
	has  []bool
	one  int // the only node, or -1; has is nil then
	// least is the least that any of them offers, by resource.
	least []int64
}

func (s *nodeSet) holds(n int) bool {
	if s.has == nil {
		return s.one == n
	}
	return s.has[n]
}

// counter counts pods by domain. Keys with many domains are counted sparsely, as most of
// them hold no pod of a given pod group.
type counter struct {
	dense  []int32
	sparse map[int32]int32
	total  int
}

const denseDomains = 256

func newCounter(domains int) *counter {
	if domains <= denseDomains {
		return &counter{dense: make([]int32, domains)}
	}
	return &counter{sparse: map[int32]int32{}}
}

func (c *counter) at(d int32) int32 {
	if c.dense != nil {
		return c.dense[d]
	}
	return c.sparse[d]
}

// reset removes all pods.
func (c *counter) reset() {
	c.total = 0
	clear(c.dense)
	clear(c.sparse)
}

func (c *counter) add(d, by int32) {
	c.total += int(by)
	if c.dense != nil {
		c.dense[d] += by
	} else if c.sparse[d] += by; c.sparse[d] == 0 {
		delete(c.sparse, d)
	}
}

// everything returns all pod groups that are still to be placed as one component; known is false
// if what they do would depend on what only the cluster knows.
func (a *state) everything() (c component, known bool) {
	for i, u := range a.units {
		if len(u.unsure) > 0 || len(Unlisted(a.m, u.g.Workload)) > 0 {
			return c, false
		}
		if !u.g.Running {
			c.add(i, u)
		}
	}
	return c, true
}
