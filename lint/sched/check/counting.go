package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// counting proves that members are too many: for the domains of a key on which they
// exclude each other, or for a resource.
type counting struct{ *demand }

// mutual returns an error unless the members always exclude each other on a key and may
// only be on nodes that carry it.
func (k *counting) mutual(about []certificate.Member, key string) error {
	for i, m := range about {
		if m.G.Spec.NodeName != "" {
			return fmt.Errorf("%v is kept out by nobody", m.G.Workload)
		}
		for _, o := range about[:i] {
			if (o.G != m.G || m.Node >= 0) && !(k.excludesAt(m.G, o.G, key, k.only(o)) && k.excludesAt(o.G, m.G, key, k.only(m))) {
				return fmt.Errorf("%v and %v may share a domain of %s", m.G.Workload, o.G.Workload, key)
			}
		}
		for _, n := range k.sites(m.G) {
			if _, ok := k.m.Topology.Nodes[n].Labels[key]; !ok && k.slots(m, n) > 0 {
				return fmt.Errorf("%v may be on %s, which lacks %s", m.G.Workload, k.m.Topology.Nodes[n].Name, key)
			}
		}
	}
	return nil
}

// checkExclusive counts domains: a member that excludes itself needs one for each pod,
// any other needs at least one.
func (k *counting) checkExclusive(c *certificate.Assertion) error {
	if err := k.mutual(c.About, c.Proof.Key); err != nil {
		return err
	}
	need, domains := 0, map[string]bool{}
	for _, m := range c.About {
		if m.Pods > 0 && slices.Contains(k.apartOn(m.G), c.Proof.Key) {
			need += m.Pods
		} else if m.Pods > 0 {
			need++
		}
		for _, n := range k.sites(m.G) {
			if k.slots(m, n) > 0 {
				domains[k.m.Topology.Nodes[n].Labels[c.Proof.Key]] = true
			}
		}
	}
	if need <= len(domains) {
		return fmt.Errorf("%d domains of %s are enough for %v", len(domains), c.Proof.Key, certificate.Called(c.About))
	}
	return nil
}

// checkOutweighed counts by weights: even if every domain goes to the member that makes
// the most of it, the weight of all pods is larger.
func (k *counting) checkOutweighed(c *certificate.Assertion) error {
	if err := k.mutual(c.About, c.Proof.Key); err != nil {
		return err
	}
	total, best := 0, map[string]int{}
	for i, m := range c.About {
		weight := c.Proof.Weights[i]
		total += weight * m.Pods
		most := m.Pods
		if slices.Contains(k.apartOn(m.G), c.Proof.Key) {
			most = 1
		}
		holds := map[string]int{}
		for _, n := range k.sites(m.G) {
			d := k.m.Topology.Nodes[n].Labels[c.Proof.Key]
			holds[d] = min(most, holds[d]+k.slots(m, n))
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

// checkOvercommitted compares the requests of members with what some nodes have and with
// what the members may take on others: one pod in a domain of the key with which a member
// is counted, or as many as the nodes there take.
func (k *counting) checkOvercommitted(c *certificate.Assertion) error {
	l := k.ledger()
	r := slices.Index(l.names, c.Proof.Resource)
	if r < 0 || !k.contend {
		return fmt.Errorf("nobody asks for %s", c.Proof.Resource)
	}
	crammed := map[int]bool{}
	for _, n := range c.Proof.Nodes {
		crammed[n] = true
	}
	offered, demand, outside := int64(0), int64(0), int64(0)
	inside := map[*sited]bool{}
	for i, m := range c.About {
		ask := l.asks(m.G)[r]
		demand = added(demand, ask, m.Pods)
		key := c.Proof.Keys[i]
		if key != "" && !slices.Contains(k.apartOn(m.G), key) {
			return fmt.Errorf("%v: its pods may share a domain of %s", m.G.Workload, key)
		}
		at := k.sited(m.G)
		if _, known := inside[at]; !known {
			inside[at] = !slices.ContainsFunc(at.list, func(n int) bool { return !crammed[n] })
		}
		if inside[at] {
			continue
		}
		byDomain := map[string]int64{}
		for _, n := range k.sites(m.G) {
			if crammed[n] {
				continue
			}
			if value, ok := k.m.Topology.Nodes[n].Labels[key]; ok && key != "" {
				byDomain[value] = min(1, byDomain[value]+int64(k.slots(m, n)))
			} else {
				outside += ask * int64(k.slots(m, n))
			}
		}
		for _, pods := range byDomain {
			outside += ask * pods
		}
	}
	all := int64(0) // an upper bound on what can be used
	for n := range crammed {
		all = added(all, max(0, l.free[n*len(l.names)+r]), 1)
	}
	if demand < math.MaxInt64 && demand-outside > all {
		return nil
	}
	for n := range crammed {
		offered += k.usable(c, l, r, n)
	}
	if demand <= offered+outside {
		return fmt.Errorf("%v ask for %d of %s, and %d is there", certificate.Called(c.About), demand, c.Proof.Resource, offered+outside)
	}
	return nil
}

// usable returns how much of a resource of a node the members can use: a multiple of the
// greatest common divisor of their requests.
func (k *counting) usable(c *certificate.Assertion, l *ledger, r, n int) int64 {
	divisor, most := int64(0), int64(0)
	k.m.Run().Spend(len(c.About) * (1 + len(k.m.Topology.Nodes)/(4*model.PerStep)))
	for _, m := range c.About {
		if ask := l.asks(m.G)[r]; slices.Contains(k.sites(m.G), n) {
			most += ask * int64(k.slots(m, n))
			for ask != 0 {
				divisor, ask = ask, divisor%ask
			}
		}
	}
	if divisor == 0 {
		return 0
	}
	return min(most, max(0, l.free[n*len(l.names)+r])/divisor*divisor)
}
