package search

import (
	"encoding/binary"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// binds reports whether any resource can run out.
func (s interactions) binds() bool {
	all, _ := s.askersOf()
	return slices.Contains(s.shortagesOf(all), true)
}

// component is a set of pod groups that interact.
type component struct {
	units []int
	pods  int
	// owners are the workloads of the pod groups; owner is the index of each unit's workload
	// among them. The pods of a DaemonSet are one pod group each and have one owner.
	owners []*workload.Workload
	owner  []int
	at     map[*workload.Workload]int // in owners
	// declared is the number of pods of each owner.
	declared []int
	// unsure is set if a rule in the component depends on what only the cluster knows.
	unsure bool
}

// add adds a pod group.
func (c *component) add(i int, u *podGroup) {
	owner := u.g.Origin()
	if c.at == nil {
		c.at = map[*workload.Workload]int{}
	}
	at := model.Cached(c.at, owner, func() int {
		c.owners, c.declared = append(c.owners, owner), append(c.declared, 0)
		return len(c.owners) - 1
	})
	c.declared[at] += u.pods
	c.units, c.owner = append(c.units, i), append(c.owner, at)
	c.pods += u.pods
}

// interactions finds the pod groups that interact.
type interactions struct{ *state }

// components splits the pod groups. Two are in one component if a rule of one looks at
// the other, if they want the same port, or if together they may fill a node.
func (s interactions) components() []component {
	parent := make([]int, len(s.units))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	join := func(i, j int) { parent[find(j)] = find(i) }
	for i, u := range s.units {
		s.m.Run().Spend(1 + len(u.exclusions)/2)
		for _, x := range u.exclusions {
			join(i, x.unit)
		}
		for _, j := range u.unsure {
			join(i, j)
		}
		for _, j := range u.peers {
			join(i, j.unit)
		}
		for _, c := range u.spreads {
			for _, j := range c.watch {
				join(i, j.unit)
			}
		}
		if u.createdAfter != nil {
			join(i, s.unitsOf[u.createdAfter.g.Workload][0])
		}
	}
	first := slices.Repeat([]int{-1}, len(s.hostPorts)) // the first pod group for which a port clashes
	for i, u := range s.units {
		for _, p := range u.clashes {
			if first[p] < 0 {
				first[p] = i
			}
			join(first[p], i)
		}
	}
	if s.contend {
		s.joinContending(join)
	}
	by := map[int]int{}
	unsure := map[int]bool{}
	for i, u := range s.units {
		if len(u.unsure) > 0 || u.open {
			unsure[find(i)] = true
		}
	}
	var all []component
	for i, u := range s.units {
		if u.g.Running {
			continue
		}
		root := find(i)
		at, ok := by[root]
		if !ok {
			at = len(all)
			by[root] = at
			all = append(all, component{unsure: unsure[root]})
		}
		all[at].add(i, u)
	}
	return all
}

// askers is a set of pod groups that may use the same nodes and request the same
// resources.
type askers struct {
	nodes *nodeSet
	asks  []int // by resource, in order
	units []int
}

// askersOf groups the pod groups whose pods may be placed by their nodes and requested
// resources. nodes is the sum of the sizes of the node sets.
func (s interactions) askersOf() (all []*askers, nodes int) {
	type key struct {
		nodes *nodeSet
		asks  string
	}
	at := map[key]*askers{}
	var asks []int
	var text []byte
	for i, u := range s.units {
		if u.g.Running || s.unplaceable[i] || len(u.nodes.list) == 0 {
			continue
		}
		asks, text = asks[:0], text[:0]
		for r, ask := range u.ask {
			if ask > 0 {
				asks, text = append(asks, r), binary.AppendUvarint(text, uint64(r))
			}
		}
		same := at[key{u.nodes, string(text)}]
		if same == nil {
			same = &askers{nodes: u.nodes, asks: slices.Clone(asks)}
			at[key{u.nodes, string(text)}] = same
			all, nodes = append(all, same), nodes+len(u.nodes.list)
		}
		same.units = append(same.units, i)
	}
	s.m.Run().Spend(len(s.units)*(1+len(s.resources)/model.PerStep) + nodes*(1+len(s.resources))/(4*model.PerStep))
	return all, nodes
}

// joinContending joins pod groups that request a resource of a node which could run out
// if all their pods came.
func (s interactions) joinContending(join func(i, j int)) {
	all, nodes := s.askersOf()
	s.m.Run().Spend(len(s.units) + nodes/(2*model.PerStep))
	short := s.shortagesOf(all)
	first := slices.Repeat([]int{-1}, len(s.nodes))
	for _, same := range all {
		contend := false
		for _, n := range same.nodes.list {
			here := short[int(n)*len(s.resources):]
			if !slices.ContainsFunc(same.asks, func(r int) bool { return here[r] }) {
				continue
			}
			// One resource that runs short is enough to connect the node's pod groups.
			contend = true
			if first[n] < 0 {
				first[n] = same.units[0]
			}
			join(first[n], same.units[0])
		}
		if contend {
			for _, i := range same.units[1:] {
				join(same.units[0], i)
			}
		}
	}
}

// shortagesOf says for every node and resource whether it could run out if all pods that
// may go there did.
func (s interactions) shortagesOf(all []*askers) []bool {
	width := len(s.resources)
	demand := make([]int64, len(s.free))
	for _, same := range all {
		for _, r := range same.asks {
			sum := int64(0)
			for _, i := range same.units {
				sum = classes.Sum(sum, s.units[i].ask[r], s.units[i].pods)
			}
			for _, n := range same.nodes.list {
				demand[int(n)*width+r] = classes.Sum(demand[int(n)*width+r], sum, 1)
			}
		}
	}
	short := make([]bool, len(s.free))
	for i, d := range demand {
		short[i] = d > s.free[i]
	}
	return short
}
