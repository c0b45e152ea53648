package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// contenders counts the nodes that other pods can close to one more pod of a group (T16). It shares only
// the model with the search.
type contenders struct {
	m *model.Model
	g *model.Group
	// pods is the number of g's pods, including the one that looks for a node, and others the number
	// of all other pods. Of these, on may each close a node by a rule, and in a domain of a coarse key.
	pods, others, on, in int
	// A coarse key has several nodes in a domain. apart holds such keys in anti-affinity, and over the
	// spread constraints with such a key. foreign is set if these may count pods of other workloads.
	apart   map[string]bool
	over    []*model.Term
	foreign bool
	unclear bool // counting proves nothing
	asks    []closable
	surveys map[string]*survey // by key
}

// closable describes how other pods can use up a resource. The pods of all DaemonSets request `daemons` on
// a node. All other pods together request `rest`, in multiples of `step`.
type closable struct {
	name                     corev1.ResourceName
	ask, rest, step, daemons int64
	offers                   []int64
}

// Contenders counts the pods that may be in place, and how they may close nodes. A rule of which
// only the cluster knows whether it selects a pod counts as if it did.
func (Checker) Contenders(m *model.Model, w *workload.Workload, pods int, others []*workload.Workload) certificate.Contenders {
	g, all := m.Groups[w], crewOf(m, others)
	replaced, listed := w, all.in[w]
	if o := all.of[w.Object]; !listed && o != nil { // w is a changed copy
		replaced, listed = o, true
	}
	c := &contenders{m: m, g: g, pods: pods, others: all.pods + pods - 1, apart: map[string]bool{}, surveys: map[string]*survey{}}
	if listed {
		c.others -= model.Certain(replaced)
	}
	c.unclear = g.Spec.NodeName != "" || g.Kind.PerNode() || slices.ContainsFunc(m.Apart, func(p model.Apart) bool { return c.coarse(p.Key) })
	for t := range g.HardTerms() {
		perPod := func(r model.Requirement) bool { return model.Ordinal(r.Key) || r.Key == model.PodName }
		c.unclear = c.unclear || t.Use == model.Affinity || t.Sel.Local() || slices.ContainsFunc(t.Sel.Reqs, perPod)
		if t.Use == model.Spread && c.coarse(t.Key) {
			c.over, c.foreign = append(c.over, t), c.foreign || t.Sel.Form != model.FormSet
		}
	}
	for _, q := range append([]model.Request{{Name: corev1.ResourcePods, Amount: 1}}, g.Requests...) {
		r := all.requests(q.Name)
		r.ask, r.offers, r.rest = q.Amount, m.Offers(q.Name, m.Topology.Nodes), added(r.rest, q.Amount, pods-1)
		if listed && r.rest < math.MaxInt64 {
			r.rest -= requestOf(m.Groups[replaced], q.Name) * int64(model.Certain(replaced))
		}
		for a := q.Amount; a > 0; {
			r.step, a = a, r.step%a
		}
		if q.Amount > 0 {
			c.asks = append(c.asks, r)
		}
	}
	c.see(g, pods-1)
	for _, o := range c.near(all, replaced) {
		if o != w && o != replaced {
			c.see(m.Groups[o], model.Certain(o))
		}
	}
	return c
}

// coarse reports whether a key has several nodes in a domain.
func (c *contenders) coarse(key string) bool {
	of, domains := c.m.Numbered(key, c.m.Topology.Nodes)
	type kept map[string]bool
	return lazy.Cached(*model.KeepForNodes(c.m, func() *kept { return &kept{} }), key, func() bool {
		return len(lists.Where(of, func(d int32) bool { return d >= 0 })) > domains
	})
}

// crew is a list of workloads with what questions about other pods need to know about them.
type crew struct {
	m      *model.Model
	others []*workload.Workload
	pods   int
	// known is set if all of them take part in decisions, so relations know their rules.
	known   bool
	running []*workload.Workload
	in      map[*workload.Workload]bool
	of      map[*source.Object]*workload.Workload // the first that an object declares
	sums    map[corev1.ResourceName]closable
}

// crewOf returns the crew of a list. It caches crews, because many questions share a list.
func crewOf(m *model.Model, others []*workload.Workload) *crew {
	if len(others) == 0 {
		return newCrew(m, nil)
	}
	type list struct {
		first **workload.Workload
		n     int
	}
	type kept map[list]*crew
	return lazy.Cached(*model.Keep(m, func() *kept { return &kept{} }), list{&others[0], len(others)}, func() *crew { return newCrew(m, others) })
}

func newCrew(m *model.Model, others []*workload.Workload) *crew {
	m.Run().Spend(1 + len(others))
	c := &crew{m: m, others: others, known: true, in: lists.Set(others), of: map[*source.Object]*workload.Workload{}, sums: map[corev1.ResourceName]closable{}}
	ours := *model.Keep(m, func() *present { p := present(lists.Set(m.Workloads)); return &p })
	for _, o := range others {
		if c.of[o.Object] == nil {
			c.of[o.Object] = o
		}
		if !o.Kind.PerNode() || o.Running {
			c.pods += model.Certain(o)
		}
		if o.Running {
			c.running = append(c.running, o)
		}
		c.known = c.known && ours[o] && m.Present(m.Groups[o])
	}
	return c
}

// present is the set of a model's workloads.
type present map[*workload.Workload]bool

// requests adds up the requests for a resource.
func (c *crew) requests(name corev1.ResourceName) closable {
	return lazy.Cached(c.sums, name, func() closable {
		r := closable{name: name}
		c.m.Run().Spend(1 + len(c.others)/model.PerStep)
		for _, o := range c.others {
			switch ask, pods := requestOf(c.m.Groups[o], name), model.Certain(o); {
			case o.Running:
			case o.Kind.PerNode():
				r.daemons = added(r.daemons, ask, 1)
			case pods > 0:
				for r.rest = added(r.rest, ask, pods); ask > 0; {
					r.step, ask = ask, r.step%ask
				}
			}
		}
		return r
	})
}

// requestOf returns how much of a resource one pod of a group requests.
func requestOf(g *model.Group, name corev1.ResourceName) int64 {
	if name == corev1.ResourcePods {
		return 1
	}
	i := slices.IndexFunc(g.Requests, func(q model.Request) bool { return q.Name == name })
	if i < 0 {
		return 0
	}
	return g.Requests[i].Amount
}

// near returns those of the workloads that a hard rule or a port may connect with the group, which
// replaces a workload.
func (c *contenders) near(all *crew, replaced *workload.Workload) (some []*workload.Workload) {
	if len(c.g.HostPorts)+len(c.m.Apart) > 0 || !all.known || !all.in[replaced] {
		return all.others
	}
	seen := map[*workload.Workload]bool{}
	add := func(o *workload.Workload) {
		if !seen[o] && all.in[o] {
			some = append(some, o)
		}
		seen[o] = true
	}
	for t := range c.g.HardTerms() {
		for _, list := range c.m.Index.Candidates(t, c.g.Workload) {
			for _, o := range list {
				add(o)
			}
		}
	}
	for _, o := range slices.Concat(c.m.AskedAbout(replaced), all.running) {
		add(o)
	}
	return some
}

// see finds out how pods of a group may close nodes or domains by a rule.
func (c *contenders) see(o *model.Group, pods int) {
	daemon := o.Kind.PerNode() && !o.Running
	in, on := false, portsClash(c.m, c.g, o) || slices.ContainsFunc(c.m.Apart, func(p model.Apart) bool { return !daemon || p.A == o.Workload || p.B == o.Workload })
	ruled := func(of, other *model.Group) {
		for t := range of.HardTerms() {
			coarse := c.coarse(t.Key)
			switch {
			case t.Use == model.Affinity, t.Use == model.Spread && of != c.g, c.m.Peer(t, of.Workload, other.Workload) == model.No:
			case t.Use == model.Spread && coarse:
				c.foreign = c.foreign || o != c.g
			default:
				if on = true; coarse {
					c.apart[t.Key], in = true, true
				}
			}
		}
	}
	if ruled(c.g, o); o != c.g {
		ruled(o, c.g)
	}
	c.unclear = c.unclear || daemon && (on || in)            // requests alone do not say where such pods are
	if n, known := c.m.IndexOf(o.Spec.NodeName); o.Running { // it may fill its node
		on = known && c.shelf("").of[n] >= 0 && c.accepts(n)
	}
	if on {
		c.on += max(0, pods)
	}
	if in {
		c.in += max(0, pods)
	}
}

// accepts reports whether a node that passes the filters has room for a pod beside its DaemonSets.
func (c *contenders) accepts(n int) bool {
	return !slices.ContainsFunc(c.asks, func(r closable) bool { return r.offers[n]-r.daemons < r.ask })
}

// LeaveOpen returns an error unless other pods always leave a node open.
func (c *contenders) LeaveOpen(o certificate.Opening) error {
	key, stays := o.Key, o.Key != ""
	unclear := c.unclear || len(c.over)+len(c.apart) > 1 || stays && o.Meaning == certificate.Unreachable
	for _, t := range c.over { // pods that stay in a domain keep to a constraint that counts only them (T30)
		unclear, key = unclear || stays && (t.Key != key || c.foreign), t.Key
	}
	for k := range c.apart {
		if unclear = unclear || stays && c.in > 0; !stays {
			key = k
		}
	}
	if unclear {
		return fmt.Errorf("%v: counting does not show that a node stays open", c.g.Workload)
	}
	all, safe, hit := c.regions(key, o), 0, false
	for i := range all[1:] {
		x := &all[i+1]
		if x.safe() && !(x.hit && !o.One && o.Meaning == certificate.Unreachable) {
			safe, hit = safe+1, hit || x.hit
		}
	}
	if hit && o.One && o.Meaning == certificate.Unreachable { // pods on the lost node still close its domain
		safe--
	}
	open := safe > c.in || all[0].safe()
	switch {
	case stays:
		of, _ := c.m.Numbered(key, c.m.Topology.Nodes)
		open = all[of[o.Near]+1].safe()
	case len(c.over) > 0:
		open = c.evenly(c.over[0], all, o)
	}
	if !open {
		return fmt.Errorf("%v: other pods may close all nodes that a pod can use", c.g.Workload)
	}
	return nil
}

// evenly reports whether every domain that a spread constraint counts has a node that stays open, or
// enough domains for all pods if it counts no others (R-T7).
func (c *contenders) evenly(t *model.Term, all []region, o certificate.Opening) bool {
	of, size := c.m.Numbered(t.Key, c.m.Topology.Nodes)
	type kept map[domainsKey][]bool
	counted := lazy.Cached(*model.KeepForNodes(c.m, func() *kept { return &kept{} }), domainsKey{c.g.Signature, t.Key, c.g.KeysID, t.HonorsAffinity(), t.HonorsTaints(), false}, func() []bool {
		in := make([]bool, len(of))
		for n := range of {
			in[n] = (&books{m: c.m}).counted(c.g, t, n, -1)
		}
		return in
	})
	nodes := make([]int, size) // those that count, by domain
	for n, d := range of {
		if counted[n] {
			nodes[d]++
		}
	}
	for _, n := range o.Lost {
		if counted[n] && !o.One && (o.Meaning == certificate.Gone || t.HonorsTaints()) {
			nodes[of[n]]--
		}
	}
	domains, missed, safe := 0, false, 0
	for d, n := range nodes {
		if n > 0 {
			domains, missed = domains+1, missed || !all[d+1].safe()
		}
	}
	for i := range all[1:] {
		if all[i+1].safe() {
			safe++
		}
	}
	return domains >= max(1, t.MinDomains()) && !missed || !c.foreign && safe*int(t.Constraint.MaxSkew) >= c.pods
}

// region holds counts for the nodes with one value of a key, or without the key. open counts the nodes
// that accept a pod, and closed is an upper bound on how many of them other pods can close. hit is set if
// some of its nodes may be lost, and risk if an open one may be.
type region struct {
	open, closed int
	hit, risk    bool
}

// safe reports whether a node stays open whatever other pods do, even if a node at risk is lost.
func (x *region) safe() bool { return x.open > x.closed && !(x.risk && x.open == x.closed+1) }

// regions counts the nodes in each domain of a key, after those without it.
func (c *contenders) regions(key string, o certificate.Opening) []region {
	of, _ := c.m.Numbered(key, c.m.Topology.Nodes)
	before := lazy.Cached(c.surveys, key, func() *survey { return c.count(key) })
	c.m.Run().Spend(1 + (len(o.Lost)+len(before.regions))/model.PerStep)
	all, any := slices.Clone(before.regions), o.One && len(o.Lost) == 0
	for i := range all {
		all[i].hit, all[i].risk = any, any
	}
	for _, n := range o.Lost {
		x, open := &all[of[n]+1], before.shelf.of[n] >= 0 && before.open[before.shelf.of[n]]
		x.hit = true
		if x.risk = x.risk || open && o.One; open && !o.One {
			x.open--
		}
	}
	return all
}

// survey holds the regions of a key before a loss, and which stacks accept a pod.
type survey struct {
	shelf   *shelf
	regions []region
	open    []bool
}

// count counts the nodes before a loss. Other pods close a node by requesting enough on it. The bound
// closes the nodes that take the least first.
func (c *contenders) count(key string) *survey {
	of, size := c.m.Numbered(key, c.m.Topology.Nodes)
	s := c.shelf(key)
	all := &survey{s, make([]region, size+1), make([]bool, len(s.stacks))}
	c.m.Run().Spend(1 + (len(s.stacks)*(1+len(c.asks))+size)/model.PerStep)
	for k, st := range s.stacks {
		if all.open[k] = c.accepts(st.node); all.open[k] {
			all.regions[of[st.node]+1].open += st.nodes
		}
	}
	for i := range c.asks {
		r := &c.asks[i]
		left := slices.Repeat([]int64{r.rest}, size+1)
		for _, k := range s.ascending(r) {
			st := s.stacks[k]
			at, need := of[st.node]+1, r.offers[st.node]-r.daemons-r.ask+1
			if size == 0 && need > left[at] {
				break // all others need even more
			}
			if !all.open[k] || need > left[at] || r.offers[st.node] == math.MaxInt64 { // no pods fill it
				continue
			}
			if need <= math.MaxInt64-r.step {
				need += (r.step - need%r.step) % r.step
			}
			nodes := min(left[at]/need, int64(st.nodes))
			all.regions[at].closed, left[at] = all.regions[at].closed+int(nodes), left[at]-nodes*need
		}
	}
	for k := range all.regions {
		all.regions[k].closed = min(all.regions[k].closed+c.on, c.others)
	}
	return all
}

// shelf divides the nodes that pass a group's filters into stacks that have one domain of a key and
// offer the same of what the group requests. The value in of is -1 for other nodes.
type shelf struct {
	of     []int32
	stacks []stack
	orders map[corev1.ResourceName][]int
}

type stack struct{ node, nodes int } // one of the nodes, and how many there are

func (c *contenders) shelf(key string) *shelf {
	id := []byte(c.g.Signature + "\x00" + c.g.KeysID + "\x00" + key)
	for i := range c.asks {
		id = append(append(id, 0), c.asks[i].name...)
	}
	type kept map[string]*shelf
	return lazy.Cached(*model.KeepForNodes(c.m, func() *kept { return &kept{} }), string(id), func() *shelf {
		s, at := &shelf{orders: map[corev1.ResourceName][]int{}}, map[string]int{}
		of, _ := c.m.Numbered(key, c.m.Topology.Nodes)
		c.m.Run().Spend(1 + len(of)*(2+len(c.asks))/model.PerStep)
		for n, p := range c.m.Eligible(c.g.Workload).Nodes {
			if s.of = append(s.of, -1); !p.All() || !model.Carries(c.m.Topology.Nodes[n].Labels, model.HardKeys(c.g)) {
				continue
			}
			id := strconv.AppendInt(nil, int64(of[n]), 10)
			for i := range c.asks {
				id = strconv.AppendInt(append(id, ' '), c.asks[i].offers[n], 10)
			}
			k := lazy.Cached(at, string(id), func() int { s.stacks = append(s.stacks, stack{node: n}); return len(at) })
			s.of[n], s.stacks[k].nodes = int32(k), s.stacks[k].nodes+1
		}
		return s
	})
}

// ascending returns the stacks in the order of what their nodes offer.
func (s *shelf) ascending(r *closable) []int {
	return lazy.Cached(s.orders, r.name, func() (order []int) {
		for k := range s.stacks {
			order = append(order, k)
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.offers[s.stacks[a].node], r.offers[s.stacks[b].node]) })
		return order
	})
}
