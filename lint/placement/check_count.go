package placement

import (
	"fmt"
	"slices"
)

// slots bounds how many pods of a member a node takes.
func (v *verifier) slots(m member, n int) int {
	if m.node >= 0 && n != m.node || v.blocked(m.g, n) {
		return 0
	}
	most := m.pods
	if v.contend {
		l := v.books()
		for r, ask := range l.asks(m.g) {
			if ask > 0 && l.free[n*len(l.names)+r] < Unbounded<<24 {
				most = int(min(int64(most), max(0, l.free[n*len(l.names)+r]/ask)))
			}
		}
	}
	node := v.m.Topology.Nodes[n]
	alone := slices.ContainsFunc(m.g.HostPorts, func(p HostPort) bool { return slices.ContainsFunc(m.g.HostPorts, p.Conflicts) })
	for _, k := range v.apartOn(m.g) {
		_, ok := node.Labels[k]
		alone = alone || ok
	}
	if alone {
		most = min(most, 1)
	}
	return most
}

// apartOn are the keys on which pods of a group always keep one another out.
func (v *verifier) apartOn(g *Group) []string {
	var keys []string
	if g.Spec.NodeName != "" {
		return nil // a kubelet does not ask
	}
	for _, a := range v.against[g.Workload] {
		if a.w == g.Workload && !slices.Contains(keys, a.key) {
			keys = append(keys, a.key)
		}
	}
	for _, t := range g.Terms {
		if t.Hard && t.Use == AntiAffinity && !slices.Contains(keys, t.Key) && v.surely(t, g, g) {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// mutual reports whether members always keep one another out on a key, and that
// they may be on no node without it.
func (v *verifier) mutual(about []member, key string) error {
	for i, m := range about {
		if m.g.Spec.NodeName != "" {
			return fmt.Errorf("%v is kept out by nobody", m.g.Workload)
		}
		for _, o := range about[:i] {
			if (o.g != m.g || m.node >= 0) && !(v.excludesAt(m.g, o.g, key, v.only(o)) && v.excludesAt(o.g, m.g, key, v.only(m))) {
				return fmt.Errorf("%v and %v may share a domain of %s", m.g.Workload, o.g.Workload, key)
			}
		}
		for _, n := range v.sites(m.g) {
			if _, ok := v.m.Topology.Nodes[n].Labels[key]; !ok && v.slots(m, n) > 0 {
				return fmt.Errorf("%v may be on %s, which lacks %s", m.g.Workload, v.m.Topology.Nodes[n].Name, key)
			}
		}
	}
	return nil
}

// checkExclusive counts domains: a pod of a member that excludes itself takes
// one, and all pods of another one need one at least.
func (v *verifier) checkExclusive(c *assertion) error {
	if err := v.mutual(c.about, c.proof.key); err != nil {
		return err
	}
	need, domains := 0, map[string]bool{}
	for _, m := range c.about {
		if m.pods > 0 && slices.Contains(v.apartOn(m.g), c.proof.key) {
			need += m.pods
		} else if m.pods > 0 {
			need++
		}
		for _, n := range v.sites(m.g) {
			if v.slots(m, n) > 0 {
				domains[v.m.Topology.Nodes[n].Labels[c.proof.key]] = true
			}
		}
	}
	if need <= len(domains) {
		return fmt.Errorf("%d domains of %s are enough for %v", len(domains), c.proof.key, called(c.about))
	}
	return nil
}

// checkOutweighed counts by weights: even if every domain went to the member
// that makes the most of it, all together weigh more.
func (v *verifier) checkOutweighed(c *assertion) error {
	if err := v.mutual(c.about, c.proof.key); err != nil {
		return err
	}
	total, best := 0, map[string]int{}
	for i, m := range c.about {
		weight := c.proof.weights[i]
		total += weight * m.pods
		most := m.pods
		if slices.Contains(v.apartOn(m.g), c.proof.key) {
			most = 1
		}
		holds := map[string]int{}
		for _, n := range v.sites(m.g) {
			d := v.m.Topology.Nodes[n].Labels[c.proof.key]
			holds[d] = min(most, holds[d]+v.slots(m, n))
		}
		for d, pods := range holds {
			best[d] = max(best[d], weight*pods)
		}
	}
	sum := 0
	for _, b := range best {
		sum += b
	}
	if weightless := slices.ContainsFunc(c.proof.weights, func(w int) bool { return w < 0 }); weightless || total <= sum {
		return fmt.Errorf("%v weigh %d, and the domains of %s hold %d", called(c.about), total, c.proof.key, sum)
	}
	return nil
}

// checkCrammed compares what members ask for with what some nodes have and what
// the members may take on others: one pod in a domain of the key with which a
// member is counted, or as many as the nodes there take.
func (v *verifier) checkCrammed(c *assertion) error {
	l := v.books()
	r := slices.Index(l.names, c.proof.resource)
	if r < 0 || !v.contend {
		return fmt.Errorf("nobody asks for %s", c.proof.resource)
	}
	crammed := map[int]bool{}
	for _, n := range c.proof.nodes {
		crammed[n] = true
	}
	offered, demand, outside := int64(0), int64(0), int64(0)
	for n := range crammed {
		offered += v.usable(c, l, r, n)
	}
	for i, m := range c.about {
		ask := l.asks(m.g)[r]
		demand += ask * int64(m.pods)
		key := c.proof.keys[i]
		if key != "" && !slices.Contains(v.apartOn(m.g), key) {
			return fmt.Errorf("%v: its pods may share a domain of %s", m.g.Workload, key)
		}
		byDomain := map[string]int64{}
		for _, n := range v.sites(m.g) {
			if crammed[n] {
				continue
			}
			if value, ok := v.m.Topology.Nodes[n].Labels[key]; ok && key != "" {
				byDomain[value] = min(1, byDomain[value]+int64(v.slots(m, n)))
			} else {
				outside += ask * int64(v.slots(m, n))
			}
		}
		for _, pods := range byDomain {
			outside += ask * pods
		}
	}
	if demand <= offered+outside {
		return fmt.Errorf("%v ask for %d of %s, and %d is there", called(c.about), demand, c.proof.resource, offered+outside)
	}
	return nil
}

// usable is how much of a resource of a node the members can use: a multiple of
// what divides all their requests.
func (v *verifier) usable(c *assertion, l *ledger, r, n int) int64 {
	divisor, most := int64(0), int64(0)
	for _, m := range c.about {
		if ask := l.asks(m.g)[r]; slices.Contains(v.sites(m.g), n) {
			divisor = common(divisor, ask)
			most += ask * int64(v.slots(m, n))
		}
	}
	if divisor == 0 {
		return 0
	}
	return min(most, max(0, l.free[n*len(l.names)+r])/divisor*divisor)
}

// common is the greatest common divisor.
func common(x, y int64) int64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}
