package search

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// podGroup is a set of pods that are equal in everything that affects placement: a workload's pods,
// or the single pod that a DaemonSet runs on one node.
type podGroup struct {
	g    *model.Group
	pods int
	// kubelet is set for pods whose manifest names their node. For these pods, only the kubelet's
	// admission checks apply (R-P8).
	kubelet bool
	// pinned is the only node that a DaemonSet pod can use.
	pinned int
	// nodes lists the nodes that pass the node-level filters and have space for at least one pod
	// when empty. Pod groups with equal node rules and requests share the set.
	nodes *nodeSet
	// ask holds one pod's request for each of the instance's resources.
	ask []int64
	// exclusions lists the pod groups, possibly including this one, whose pods keep this group's
	// pods out of their domain for a key. The relation is symmetric (R-A5 to R-A7).
	exclusions []exclusion
	// affinityKeys lists the topology keys of required affinity. Pods of the groups in peers
	// satisfy the affinity. first is set if the group's first pod may come before any peer (R-A9 to
	// R-A14).
	affinityKeys []int
	peers        []located
	first        bool
	// spreads holds the hard spread constraints. keys lists their topology keys, all of which a
	// node must carry.
	spreads []*constraint
	keys    []int
	keysID  string // equal for equal lists of keys
	// ports lists the host ports that each pod uses, and taken lists them in sorted order. clashes
	// is a sorted list of the ports that keep a pod off a node when they are already in use there.
	ports, taken, clashes []int
	// createdAfter is the pod group that must have a placed pod before this group's pods are
	// created, or nil. placed counts this group's placed pods.
	createdAfter *podGroup
	placed       int
	// unsure lists the pod groups that this group's hard terms may or may not select. A term then
	// requires a label value that only the cluster knows.
	unsure []int
	// maybe lists the exclusions that apply to this pod group if uncertain anti-affinity terms turn
	// out to select pods. vague is set if the group has an uncertain affinity or spread term.
	maybe []exclusion
	vague bool
	// open is set if pods outside the instance may satisfy or affect a hard term.
	open bool
	// cost is the number of steps it takes to check whether a node accepts a pod. moved is the
	// number of steps it takes to place or remove a pod.
	cost, moved int
}

// exclusion keeps pods out of every domain of the key that contains pods of pod group unit. Only
// that group's pods at the given place count.
type exclusion struct{ key, unit, place int }

// located refers to a pod group's pods at one place. place is an index into instance.places, and
// place 0 means all nodes.
type located struct{ unit, place int }

// constraint is a hard spread constraint, compiled for evaluation (R-T1 to R-T7).
type constraint struct {
	key, maxSkew, minDomains int
	// self is 1 if the constraint counts the incoming pod itself.
	self int
	// counted marks the nodes whose pods count, and domains lists the domains of these nodes.
	counted []bool
	domains []int
	// watch lists the pod groups whose pods count.
	watch []located
	// count holds the number of counted pods in each domain of the key, in the instance's current
	// state.
	count []int32
}

// instance is a Model in which names are replaced with numbers: nodes, keys and pod groups are
// indices.
type instance struct {
	m     *model.Model
	nodes []*topology.Node
	keys  []string
	// domain holds, for each key, every node's domain or -1. sizes holds the number of domains of
	// each key.
	domain [][]int32
	sizes  []int
	units  []*podGroup
	// resources lists the requested resources. The last one stands for pod slots.
	resources []corev1.ResourceName
	hostPorts []model.HostPort
	unitsOf   map[*workload.Workload][]int
	// places holds sets of nodes. A selector may match a pod group's pods only on some nodes,
	// because pods inherit the zone label of their node. The first set is nil and means all nodes.
	places [][]bool
	// contend is false for the rules verdict, which assumes that pods do not compete for resources.
	contend     bool
	doubts      []model.Doubt
	needed      []bool // pod groups that others select in required affinity, filled in on first use
	unplaceable []bool // pod groups whose pods are never placed, because their peers never are (T20)
}

// keyed counts a pod group's pods at a place by their domain of a topology key.
type keyed struct {
	key, place int
	*counter
}

// watcher is a constraint that counts a pod group's pods at a place.
type watcher struct {
	*constraint
	place int
}

// within reports whether, on the pod group's nodes, every domain of the inner key lies in one
// domain of the outer key.
func (a *state) within(u *podGroup, inner, outer int) bool {
	p := a.all(u)
	id := [2]int{inner, outer}
	return lazy.Cached(p.within, id, func() bool { return a.lieWithin(u, inner, outer) })
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

// others returns how many of pod group j's pods can block another pod of group i. own is the number
// of group i's pods that are already placed.
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

// findUnplaceable finds the pod groups whose pods are never placed (T20). The first pod of such a
// group needs a peer, and all possible peers are in groups that are never placed. findUnplaceable
// leaves out groups whose affinity depends on facts that only the cluster knows.
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

// binding returns a pod group's spread constraints that can reject a pod. A constraint never
// rejects a pod if maxSkew allows all counted pods to be in a single domain.
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

// wanted reports whether any pod group's required affinity selects the pods of group i.
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

// bulk returns one pod's request for the first resource, which is CPU in most inputs. state.room
// returns how much of that resource is free on a node. Both only determine what to try first.
func (a *instance) bulk(i int) int64 { return a.units[i].ask[0] }

func (a *instance) carries(n int, keys []int) bool {
	for _, k := range keys {
		if a.domain[k][n] < 0 {
			return false
		}
	}
	return true
}

// inPlace reports whether node n belongs to the place.
func (a *instance) inPlace(n, place int) bool { return place == 0 || a.places[place][n] }

type nodeSet struct {
	list []int32
	has  []bool
	one  int // the only node, or -1; has is nil for a single node
	// least is the smallest amount that any of the nodes offers, by resource.
	least []int64
}

func (s *nodeSet) holds(n int) bool {
	if s.has == nil {
		return s.one == n
	}
	return s.has[n]
}

// counter counts pods by domain. It is sparse for keys with many domains, because most of them hold
// no pods of a given pod group.
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

// everything returns one component with all pod groups whose pods still have to be placed. known is
// false if a group's behavior depends on facts that only the cluster knows.
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

// state tracks how many pods of each pod group are placed on each node.
type state struct {
	instance
	// free holds the free amounts by node and resource. An amount is math.MaxInt64 if the resource
	// is not judged.
	free []int64
	// rest holds the free amounts when only the running pods are placed. running lists these pods.
	rest    []int64
	running []step
	// reserved holds the requests of pods that can be on one node only, by node and resource (see
	// open). It is nil before the first use.
	reserved []int64
	// daemons caches daemonOn.
	daemons map[*model.Group][]int
	// in counts pods by pod group and node, for the pod groups in the current search. byDomain
	// counts pods by domain for the exclusions and affinities that need these counts. counts lists
	// the counters of byDomain by pod group. portsOn counts pods by host port and node.
	in       [][]int32
	byDomain map[exclusion]*counter
	counts   [][]keyed
	portsOn  []*counter
	watchers [][]watcher
	// known caches the places that proofs have used.
	known map[placeID]*place
}

// left returns a node's free amounts by resource.
func (a *state) left(n int) []int64 {
	return a.free[n*len(a.resources) : (n+1)*len(a.resources)]
}

func (a *state) fits(u *podGroup, n int) bool {
	free := a.left(n)
	for r, ask := range u.ask {
		if ask > 0 && ask > free[r] { // an overcommitted resource keeps out only pods that request it
			return false
		}
	}
	return true
}

// place puts one of a pod group's pods on a node, and unplace removes one.
func (a *state) place(i, n int)   { a.change(i, n, 1) }
func (a *state) unplace(i, n int) { a.change(i, n, -1) }

func (a *state) change(i, n int, by int32) {
	u := a.units[i]
	a.m.Run().Spend(u.moved)
	u.placed += int(by)
	if a.in[i] != nil {
		a.in[i][n] += by
	}
	free := a.left(n)
	for r, ask := range u.ask {
		if free[r] != math.MaxInt64 {
			free[r] -= ask * int64(by)
		}
	}
	for _, p := range u.ports {
		a.portsOn[p].add(int32(n), by)
	}
	for _, c := range a.counts[i] {
		if d := a.domain[c.key][n]; d >= 0 && a.inPlace(n, c.place) {
			c.add(d, by)
		}
	}
	for _, c := range a.watchers[i] {
		if c.counted[n] && a.inPlace(n, c.place) {
			c.count[a.domain[c.key][n]] += by
		}
	}
}

// waits reports whether a pod group's pods are not created yet, because an earlier group has no placed pod
// (R-W11): after a loss, not only the one before may be missing.
func (u *podGroup) waits() bool {
	for v := u.createdAfter; v != nil; v = v.createdAfter {
		if v.placed == 0 {
			return true
		}
	}
	return false
}

// takes reports whether a node accepts another pod of a pod group in the current state.
func (a *state) takes(i, n int) bool {
	u := a.units[i]
	a.m.Run().Spend(1)
	if !u.nodes.holds(n) || a.contend && !a.fits(u, n) || u.waits() {
		return false
	}
	a.m.Run().Spend(u.cost - 1)
	for _, p := range u.clashes {
		if a.portsOn[p].at(int32(n)) > 0 {
			return false
		}
	}
	if u.kubelet {
		return true
	}
	for _, x := range u.exclusions {
		if d := a.domain[x.key][n]; d >= 0 && a.byDomain[x].at(d) > 0 {
			return false
		}
	}
	return a.spreadTakes(u, n) && a.nearTakes(u, n)
}

func (a *state) spreadTakes(u *podGroup, n int) bool {
	if !a.carries(n, u.keys) {
		return false
	}
	for _, c := range u.spreads {
		smallest := int32(0)
		if len(c.domains) >= c.minDomains {
			smallest = math.MaxInt32
			for _, d := range c.domains {
				smallest = min(smallest, c.count[d])
			}
		}
		if len(c.domains) == 0 {
			smallest = 0
		}
		if int(c.count[a.domain[c.key][n]]-smallest)+c.self > c.maxSkew {
			return false
		}
	}
	return true
}

func (a *state) nearTakes(u *podGroup, n int) bool {
	if len(u.affinityKeys) == 0 {
		return true
	}
	if !a.carries(n, u.affinityKeys) {
		return false
	}
	missing, counted := false, false
	for _, k := range u.affinityKeys {
		here := false
		for _, j := range u.peers {
			count := a.byDomain[exclusion{k, j.unit, j.place}]
			here = here || count.at(a.domain[k][n]) > 0
			counted = counted || count.total > 0
		}
		missing = missing || !here
	}
	return !missing || !counted && u.first
}

// restore removes all of a component's pods from the nodes where an interrupted search has left
// them.
func (a *state) restore(c component) {
	a.m.Run().Spend(len(c.units) + len(a.running))
	ports, watching := map[int]bool{}, map[*constraint]bool{}
	for _, i := range c.units {
		u := a.units[i]
		u.placed, a.in[i] = 0, nil
		for _, k := range a.counts[i] {
			k.reset()
		}
		for _, s := range u.spreads {
			clear(s.count)
			watching[s] = true
		}
		for _, p := range u.ports {
			a.portsOn[p].reset()
			ports[p] = true
		}
		width := len(a.resources)
		for _, n := range u.nodes.list {
			copy(a.left(int(n)), a.rest[int(n)*width:(int(n)+1)*width])
		}
	}
	for _, r := range a.running {
		for _, p := range a.units[r.unit].ports {
			if ports[p] {
				a.portsOn[p].add(int32(r.node), 1)
			}
		}
		for _, w := range a.watchers[r.unit] {
			if watching[w.constraint] && w.counted[r.node] && a.inPlace(r.node, w.place) {
				w.count[a.domain[w.key][r.node]]++
			}
		}
	}
}

// fill places up to the given number of pods and fills one node after the other. A blocked node
// stays blocked, so one pass is enough.
func (a *state) fill(i int, nodes []int32, pods int) []step {
	var run []step
	for _, n := range nodes {
		for len(run) < pods && a.takes(i, int(n)) {
			a.place(i, int(n))
			run = append(run, step{i, int(n)})
		}
	}
	return run
}

// fillBut is like fill but ignores the spread constraints.
func (a *state) fillBut(i int, nodes []int32, pods int) []step {
	u := a.units[i]
	spreads := u.spreads
	u.spreads = nil
	defer func() { u.spreads = spreads }()
	return a.fill(i, nodes, pods)
}

func (a *state) undo(run []step) {
	for _, s := range run {
		a.unplace(s.unit, s.node)
	}
}

// fillEvenly places a pod group's pods one by one. It always chooses a domain with the fewest pods
// among those that accept one.
func (a *state) fillEvenly(i int, s *constraint, pods int) []step {
	byDomain := map[int32][]int32{}
	for d, p := range a.divided(a.all(a.units[i]), s.key) {
		byDomain[d] = p.nodes
	}
	order := sorting.Keys(byDomain)
	var run []step
	for level := int32(0); len(run) < pods; level++ {
		progress := false
		for _, d := range order {
			if s.count[d] > level {
				progress = true
				continue
			}
			for len(byDomain[d]) > 0 && len(run) < pods && s.count[d] <= level {
				n := int(byDomain[d][0])
				if !a.takes(i, n) {
					if !a.takesBut(i, n) { // rejected permanently, not just because the domain is ahead of others
						byDomain[d] = byDomain[d][1:]
						continue
					}
					break
				}
				a.place(i, n)
				run = append(run, step{i, n})
				progress = true
			}
		}
		if !progress {
			break
		}
	}
	return run
}

// takesBut is like takes but ignores the spread constraints.
func (a *state) takesBut(i, n int) bool {
	u := a.units[i]
	spreads := u.spreads
	u.spreads = nil
	ok := a.takes(i, n)
	u.spreads = spreads
	return ok
}

func (a *state) room(n int) int64 { return a.left(n)[0] }
