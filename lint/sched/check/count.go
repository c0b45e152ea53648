package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// slots bounds how many pods of a member a node takes.
func (v *verifier) slots(m certificate.Member, n int) int {
	if m.Node >= 0 && n != m.Node || v.blocked(m.G, n) {
		return 0
	}
	most := m.Pods
	if v.contend {
		l := v.books()
		for r, ask := range l.asks(m.G) {
			if ask > 0 && l.free[n*len(l.names)+r] < model.Unbounded<<24 {
				most = int(min(int64(most), max(0, l.free[n*len(l.names)+r]/ask)))
			}
		}
	}
	node := v.m.Topology.Nodes[n]
	alone := slices.ContainsFunc(m.G.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(m.G.HostPorts, p.Conflicts) })
	for _, k := range v.apartOn(m.G) {
		_, ok := node.Labels[k]
		alone = alone || ok
	}
	if alone {
		most = min(most, 1)
	}
	return most
}

// apartOn are the keys on which pods of a group always keep one another out.
func (v *verifier) apartOn(g *model.Group) []string {
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
		if t.Hard && t.Use == model.AntiAffinity && !slices.Contains(keys, t.Key) && v.surely(t, g, g) {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// mutual reports whether members always keep one another out on a key, and that
// they may be on no node without it.
func (v *verifier) mutual(about []certificate.Member, key string) error {
	for i, m := range about {
		if m.G.Spec.NodeName != "" {
			return fmt.Errorf("%v is kept out by nobody", m.G.Workload)
		}
		for _, o := range about[:i] {
			if (o.G != m.G || m.Node >= 0) && !(v.excludesAt(m.G, o.G, key, v.only(o)) && v.excludesAt(o.G, m.G, key, v.only(m))) {
				return fmt.Errorf("%v and %v may share a domain of %s", m.G.Workload, o.G.Workload, key)
			}
		}
		for _, n := range v.sites(m.G) {
			if _, ok := v.m.Topology.Nodes[n].Labels[key]; !ok && v.slots(m, n) > 0 {
				return fmt.Errorf("%v may be on %s, which lacks %s", m.G.Workload, v.m.Topology.Nodes[n].Name, key)
			}
		}
	}
	return nil
}

// checkExclusive counts domains: a pod of a member that excludes itself takes
// one, and all pods of another one need one at least.
func (v *verifier) checkExclusive(c *certificate.Assertion) error {
	if err := v.mutual(c.About, c.Proof.Key); err != nil {
		return err
	}
	need, domains := 0, map[string]bool{}
	for _, m := range c.About {
		if m.Pods > 0 && slices.Contains(v.apartOn(m.G), c.Proof.Key) {
			need += m.Pods
		} else if m.Pods > 0 {
			need++
		}
		for _, n := range v.sites(m.G) {
			if v.slots(m, n) > 0 {
				domains[v.m.Topology.Nodes[n].Labels[c.Proof.Key]] = true
			}
		}
	}
	if need <= len(domains) {
		return fmt.Errorf("%d domains of %s are enough for %v", len(domains), c.Proof.Key, certificate.Called(c.About))
	}
	return nil
}

// checkOutweighed counts by weights: even if every domain went to the member
// that makes the most of it, all together weigh more.
func (v *verifier) checkOutweighed(c *certificate.Assertion) error {
	if err := v.mutual(c.About, c.Proof.Key); err != nil {
		return err
	}
	total, best := 0, map[string]int{}
	for i, m := range c.About {
		weight := c.Proof.Weights[i]
		total += weight * m.Pods
		most := m.Pods
		if slices.Contains(v.apartOn(m.G), c.Proof.Key) {
			most = 1
		}
		holds := map[string]int{}
		for _, n := range v.sites(m.G) {
			d := v.m.Topology.Nodes[n].Labels[c.Proof.Key]
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
	if weightless := slices.ContainsFunc(c.Proof.Weights, func(w int) bool { return w < 0 }); weightless || total <= sum {
		return fmt.Errorf("%v weigh %d, and the domains of %s hold %d", certificate.Called(c.About), total, c.Proof.Key, sum)
	}
	return nil
}

// checkCrammed compares what members ask for with what some nodes have and what
// the members may take on others: one pod in a domain of the key with which a
// member is counted, or as many as the nodes there take.
func (v *verifier) checkOvercommitted(c *certificate.Assertion) error {
	l := v.books()
	r := slices.Index(l.names, c.Proof.Resource)
	if r < 0 || !v.contend {
		return fmt.Errorf("nobody asks for %s", c.Proof.Resource)
	}
	crammed := map[int]bool{}
	for _, n := range c.Proof.Nodes {
		crammed[n] = true
	}
	offered, demand, outside := int64(0), int64(0), int64(0)
	for n := range crammed {
		offered += v.usable(c, l, r, n)
	}
	for i, m := range c.About {
		ask := l.asks(m.G)[r]
		demand += ask * int64(m.Pods)
		key := c.Proof.Keys[i]
		if key != "" && !slices.Contains(v.apartOn(m.G), key) {
			return fmt.Errorf("%v: its pods may share a domain of %s", m.G.Workload, key)
		}
		byDomain := map[string]int64{}
		for _, n := range v.sites(m.G) {
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
		return fmt.Errorf("%v ask for %d of %s, and %d is there", certificate.Called(c.About), demand, c.Proof.Resource, offered+outside)
	}
	return nil
}

// usable is how much of a resource of a node the members can use: a multiple of
// what divides all their requests.
func (v *verifier) usable(c *certificate.Assertion, l *ledger, r, n int) int64 {
	divisor, most := int64(0), int64(0)
	for _, m := range c.About {
		if ask := l.asks(m.G)[r]; slices.Contains(v.sites(m.G), n) {
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
