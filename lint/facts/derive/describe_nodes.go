package derive

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// poolLabels lists the labels that platforms use for pool names. The most specific label comes
// first (see the Karpenter, EKS, GKE, AKS, DigitalOcean, kops and Cluster API documentation).
var poolLabels = []string{
	"karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "cloud.google.com/gke-nodepool",
	"kubernetes.azure.com/agentpool", "agentpool", "doks.digitalocean.com/node-pool", "kops.k8s.io/instancegroup", "cluster.x-k8s.io/deployment-name",
}

// poolOf returns the name of a node's pool and the label with this name. The label is "" for a
// NodeTopology pool. Both results are "" if the node has no pool.
func poolOf(n *topology.Node) (name, label string) {
	if n.Pool != nil {
		return n.Pool.Name, ""
	}
	for _, label := range poolLabels {
		if name := n.Labels[label]; name != "" {
			return name, label
		}
	}
	return "", ""
}

// poolNames holds pool names. The slice nodes is parallel to Topology.Nodes, and growth is parallel
// to Topology.Growth.
type poolNames struct{ nodes, growth []string }

func (b *builder) namesOfPools() (p poolNames) {
	if !b.topo {
		return p
	}
	for _, n := range b.m.Topology.Nodes {
		name, _ := poolOf(n)
		p.nodes = append(p.nodes, name)
	}
	for _, g := range b.m.Topology.Growth {
		p.growth = append(p.growth, g.Node.Pool.Name)
	}
	return p
}

// passing summarizes the nodes that a group of pods can use, including nodes that pools can add.
type passing struct {
	usable, extra         int
	poolless              int // usable nodes without a pool
	zones, regions, archs domains
	pools, tainted        []string
	open                  bool
}

// domains holds the values that a label has on usable declared nodes. grown also has the values
// that only pools that grow have. missing is set if a node has no such label.
type domains struct {
	now, grown      map[string]bool
	missing         bool
	names, allNames []string
}

func (d *domains) add(n *topology.Node, label string, declared bool) {
	value := n.Labels[label]
	if value == "" {
		d.missing = true
		return
	}
	d.grown[value] = true
	if declared {
		d.now[value] = true
	}
}

// MostNodes returns the number of nodes that the pods of a workload can use when all pools are at
// their maximum size. If it is unknown, known is false.
func (f *Built) MostNodes(w *workload.Workload) (n int, known bool) {
	if f.model == nil || f.model.Topology.Empty() || f.model.Group(w).Unknown.Given() || w.SpecNode == nil {
		return 0, false
	}
	e := f.model.Eligible(w)
	extra := map[*topology.Pool]int{} // the zones of a pool share its growth
	for i, pass := range e.Growth {
		if g := f.model.Topology.Growth[i]; pass.All() {
			extra[g.Node.Pool] = g.Extra
		}
	}
	n = e.Count
	for _, more := range extra {
		n += more
	}
	return n, true
}

// placeable reports whether a workload's node-level rules can be checked.
func (b *builder) placeable(w *workload.Workload) bool {
	return b.topo && !b.m.Group(w).Unknown.Given() && w.SpecNode != nil
}

// passes summarizes the nodes that a workload's node-level rules allow. Workloads with the same
// rules share the result.
func (d *describing) passes(w *workload.Workload) *passing {
	e := d.m.Eligible(w)
	if p := d.passed[e]; p != nil {
		return p
	}
	p := &passing{}
	d.passed[e] = p
	d.m.Run().Spend(len(e.Nodes) + len(e.Growth))
	all := []*domains{&p.zones, &p.regions, &p.archs}
	for _, of := range all {
		*of = domains{now: map[string]bool{}, grown: map[string]bool{}}
	}
	pools, tainted := map[string]bool{}, map[string]bool{}
	extra := map[*topology.Pool]int{}
	look := func(pass model.Passes, n *topology.Node, pool string, declared bool) bool {
		if pass.Name && pass.Selector && pass.Schedulable && pass.Volume && pass.Zone {
			tainted[pool] = true
		}
		if !pass.All() {
			return false
		}
		p.zones.add(n, corev1.LabelTopologyZone, declared)
		p.regions.add(n, corev1.LabelTopologyRegion, declared)
		p.archs.add(n, corev1.LabelArchStable, declared)
		pools[pool] = true
		return true
	}
	for i, pass := range e.Nodes {
		if look(pass, d.m.Topology.Nodes[i], d.pools.nodes[i], true) {
			p.usable++
			if d.pools.nodes[i] == "" {
				p.poolless++
			}
		}
	}
	for i, pass := range e.Growth {
		if g := d.m.Topology.Growth[i]; look(pass, g.Node, d.pools.growth[i], false) {
			extra[g.Node.Pool] = g.Extra
			p.open = true
		}
	}
	for _, n := range extra {
		p.extra += n
	}
	maps.DeleteFunc(tainted, func(pool string, _ bool) bool { return pools[pool] || pool == "" })
	for _, of := range all {
		of.names, of.allNames = append([]string{}, sorting.Keys(of.now)...), append([]string{}, sorting.Keys(of.grown)...)
	}
	delete(pools, "")
	p.pools = append([]string{}, sorting.Keys(pools)...)
	p.tainted = append([]string{}, sorting.Keys(tainted)...)
	return p
}

// nodesOf sets the pools that the pods can use, and the numbers of usable nodes and zones.
func (d *describing) nodesOf(w *workload.Workload, row *facts.Workload) {
	row.PlacementKnown = d.placeable(w)
	if !row.PlacementKnown {
		setPlacementUnknown(row)
		return
	}
	p := d.passes(w)
	row.UsableMin, row.UsableMax, row.Growable, row.Pools = p.usable, p.usable+p.extra, p.open, p.pools
	row.UsablePoolless, row.ZonesMin, row.ZonesMax, row.TaintedPools = p.poolless, len(p.zones.now), len(p.zones.grown), p.tainted
	row.Zones, row.ZonesPossible, row.ZonesKnown = p.zones.names, p.zones.allNames, !p.zones.missing
	row.Regions, row.RegionsPossible, row.RegionsKnown = p.regions.names, p.regions.allNames, !p.regions.missing
	row.Architectures, row.ArchitecturesPossible, row.ArchitecturesKnown = p.archs.names, p.archs.allNames, !p.archs.missing
}

// setPlacementUnknown sets what a row says of nodes to unknown.
func setPlacementUnknown(row *facts.Workload) {
	row.UsableMax, row.ZonesMax = facts.NoBound, facts.NoBound
	for _, names := range []*[]string{
		&row.Pools, &row.TaintedPools, &row.Zones, &row.ZonesPossible, &row.Regions, &row.RegionsPossible, &row.Architectures, &row.ArchitecturesPossible,
	} {
		*names = []string{}
	}
}

// daemons sets the number of pods of a DaemonSet, which has one on each usable node.
func (d *describing) daemons(w *workload.Workload, row *facts.Workload) {
	if w.Kind.PerNode() && d.placeable(w) && !w.Refused() {
		p := d.passes(w)
		row.PodsMin, row.PodsMax = p.usable, p.usable+p.extra
	}
}

// share sets bounds on how many pods share a node or a zone. It assumes the minimum number of pods.
func (d *describing) share(w *workload.Workload, row *facts.Workload) {
	pods := row.PodsMin
	row.OnOneNodeMax, row.InOneZoneMax = pods, pods
	if !d.placeable(w) || w.Kind.PerNode() || pods == 0 || d.m.MaybeApart(w) || !d.m.Judged(w) {
		if w.Kind.PerNode() && d.placeable(w) {
			row.OnOneNodeMin, row.OnOneNodeMax = min(1, pods), min(1, pods)
		}
		return
	}
	p := d.passes(w)
	if p.usable+p.extra == 0 {
		return
	}
	at := w
	if w.Count.N != pods {
		fewer := *w
		fewer.Count = workload.Count{N: pods, Known: true}
		at = &fewer
		defer d.m.Guest(at)()
	}
	onNode, inZone := bound.MostTogether(d.m, at)
	row.OnOneNodeMax = min(pods, onNode)
	row.OnOneNodeMin = min(row.OnOneNodeMax, (pods+p.usable+p.extra-1)/(p.usable+p.extra))
	zones := len(p.zones.grown)
	if p.zones.missing || zones == 0 {
		return
	}
	row.InOneZoneMax = min(pods, inZone)
	row.InOneZoneMin = min(row.InOneZoneMax, (pods+zones-1)/zones)
}

// users holds the workloads that can use each node, including nodes that pools can add.
type users struct {
	nodes, growth [][]int
	known         bool
}

// users finds the workloads that can use each node. Nodes with the same workloads share one list.
func (b *builder) users() (u users) {
	var kinds []*model.Eligibility
	by := map[*model.Eligibility][]int{}
	for _, w := range b.m.Workloads {
		i, known := b.rows[w]
		if !known || w.Copy || w.Superseded || !b.placeable(w) {
			continue
		}
		e := b.m.Eligible(w)
		if by[e] == nil {
			kinds = append(kinds, e)
		}
		by[e] = append(by[e], i)
	}
	lists := map[string][]int{}
	list := func(passes func(*model.Eligibility) bool) []int {
		b.m.Run().Spend(len(kinds))
		key := make([]byte, len(kinds))
		for k, e := range kinds {
			if passes(e) {
				key[k] = 1
			}
		}
		all, known := lists[string(key)]
		if !known {
			all = []int{}
			for k, e := range kinds {
				if key[k] == 1 {
					all = append(all, by[e]...)
				}
			}
			b.m.Run().Spend(len(all))
			slices.Sort(all)
			lists[string(key)] = all
		}
		return all
	}
	for i := range b.m.Topology.Nodes {
		u.nodes = append(u.nodes, list(func(e *model.Eligibility) bool { return e.Nodes[i].All() }))
	}
	for i := range b.m.Topology.Growth {
		u.growth = append(u.growth, list(func(e *model.Eligibility) bool { return e.Growth[i].All() }))
	}
	return u
}

// askNodes names the question that stays unanswered when there are too many nodes and workloads.
const askNodes = "which workloads can use which nodes"

// describeNodes lists the nodes and their pools.
func (b *builder) describeNodes() {
	if !b.whole("nodes") && !b.whole("pools") {
		return
	}
	var u users
	if b.whole("nodes.workloads") || b.whole("pools.workloads") || b.whole("pools.namespaces") || b.whole("pools.daemonsets") {
		u.known = b.askAll(askNodes, func() { u = b.users() })
	}
	if !u.known {
		u = users{nodes: make([][]int, len(b.m.Topology.Nodes)), growth: make([][]int, len(b.m.Topology.Growth))}
	}
	if b.whole("nodes") {
		for i, n := range b.m.Topology.Nodes {
			pool, _ := poolOf(n)
			s := atNode(n)
			id, taints, labels := b.subject(s), []facts.Taint{}, maps.Clone(n.Labels)
			delete(labels, topology.Cluster)
			for i := range n.Taints {
				taints = append(taints, b.taint(n, i, s))
			}
			b.Built.Facts.Nodes = append(b.Built.Facts.Nodes, facts.Node{
				ID: id, Name: n.Name, Pool: pool, Zone: n.Labels[corev1.LabelTopologyZone], Region: n.Labels[corev1.LabelTopologyRegion],
				Labels: labels, Taints: taints, Allocatable: amounts(n.Allocatable), Cordoned: n.Unschedulable, Workloads: u.nodes[i], WorkloadsKnown: u.known,
			})
		}
	}
	if b.whole("pools") {
		b.listPools(u)
	}
}

// atNode returns a subject located at the declaration of a node.
func atNode(n *topology.Node) Subject {
	return Subject{Location: n.Span}.withAccount(nil, noteOnly(message.NoPods)).as(n.Declaration.File, n.Declaration.Node)
}

// taint returns a row for a node's i-th taint, located in the manifest that sets it.
func (b *builder) taint(n *topology.Node, i int, s Subject) facts.Taint {
	t := n.Taints[i]
	if items := n.Declaration.Taints().Items(); i < len(items) {
		s.Location, s.file, s.written = n.Declaration.File.ItemSpan(items[i]), n.Declaration.File, items[i]
	}
	return facts.Taint{ID: b.subject(s), Key: t.Key, Value: t.Value, Effect: string(t.Effect)}
}

// poolParts collects the properties shared by all nodes in a pool.
type poolParts struct {
	name, label string
	first       *topology.Node
	nodes       int
	max         int
	zones       map[string]bool
	labels      map[string]string
	offers      string
	uneven      bool
	users       map[int]bool
	taints      []nodeTaint
	daemons     map[corev1.ResourceName]daemonSetShare
}

// daemonSetShare is the part of a node's resource that DaemonSets request.
type daemonSetShare struct {
	facts.DaemonSetShare
	node *topology.Node
}

// nodeTaint identifies a taint by the node where it was first seen and its index there.
type nodeTaint struct {
	node *topology.Node
	i    int
}

func (b *builder) listPools(u users) {
	var all []*poolParts
	by := map[string]*poolParts{}
	requested := b.daemonSetRequests()
	add := func(n *topology.Node, users []int, there bool) {
		name, label := poolOf(n)
		if name == "" {
			return
		}
		p := by[label+" "+name]
		if p == nil {
			p = &poolParts{name: name, label: label, first: n, zones: map[string]bool{}, labels: maps.Clone(n.Labels), offers: offers(n), users: map[int]bool{}, daemons: map[corev1.ResourceName]daemonSetShare{}}
			by[label+" "+name] = p
			all = append(all, p)
		}
		p.add(n, users, there)
		if u.known && b.whole("pools.daemonsets") {
			b.m.Run().Spend(len(n.Allocatable))
			p.share(n, requested(users), there)
		}
	}
	for i, n := range b.m.Topology.Nodes {
		add(n, u.nodes[i], true)
	}
	for i, g := range b.m.Topology.Growth {
		add(g.Node, u.growth[i], false)
	}
	slices.SortFunc(all, func(a, b *poolParts) int { return strings.Compare(a.name+" "+a.label, b.name+" "+b.label) })
	for _, p := range all {
		row := b.pool(p)
		row.WorkloadsKnown = u.known
		b.Built.Facts.Pools = append(b.Built.Facts.Pools, row)
	}
}

// offers formats a node's allocatable resources as a string for comparison with other nodes.
func offers(n *topology.Node) string { return fmt.Sprint(amounts(n.Allocatable)) }

func (p *poolParts) add(n *topology.Node, users []int, there bool) {
	if there {
		p.nodes++
	}
	if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
		p.zones[zone] = true
	}
	maps.DeleteFunc(p.labels, func(key, value string) bool {
		return key == corev1.LabelHostname || key == topology.Cluster || n.Labels[key] != value
	})
	p.uneven = p.uneven || offers(n) != p.offers
	for _, w := range users {
		p.users[w] = true
	}
	for i, t := range n.Taints {
		same := func(o nodeTaint) bool {
			x := &o.node.Taints[o.i]
			return x.Key == t.Key && x.Value == t.Value && x.Effect == t.Effect
		}
		if !slices.ContainsFunc(p.taints, same) {
			p.taints = append(p.taints, nodeTaint{n, i})
		}
	}
	if p.max = p.nodes; n.Pool != nil {
		p.max = n.Pool.Max
	}
}

// daemonSetRequests returns a function that adds up what the DaemonSets among some workloads
// request on one node. Nodes with the same list of workloads share a sum.
func (b *builder) daemonSetRequests() func(users []int) map[corev1.ResourceName]int {
	daemons := map[int][]model.Request{}
	for w, i := range b.rows {
		if w.Kind.PerNode() {
			daemons[i] = append(model.Requests(w), model.Request{Name: corev1.ResourcePods, Amount: 1})
		}
	}
	type list struct {
		first *int
		n     int
	}
	known := map[list]map[corev1.ResourceName]int{}
	return func(users []int) map[corev1.ResourceName]int {
		if len(users) == 0 {
			return nil
		}
		id := list{&users[0], len(users)}
		if known[id] == nil {
			b.m.Run().Spend(len(users))
			sum := map[corev1.ResourceName]int{}
			for _, i := range users {
				for _, r := range daemons[i] {
					b.m.Run().Spend(1)
					sum[r.Name] = plus(sum[r.Name], int(min(r.Amount, facts.NoValue)))
				}
			}
			known[id] = sum
		}
		return known[id]
	}
}

// share keeps, for each resource, the node where DaemonSets request the largest part.
func (p *poolParts) share(n *topology.Node, requested map[corev1.ResourceName]int, there bool) {
	for name, q := range n.Allocatable {
		s := daemonSetShare{node: n}
		s.Resource, s.Allocatable, s.RequestedMin = string(name), int(min(model.Amount(name, q), facts.NoValue)), requested[name]
		if there {
			s.Node = n.Name
		}
		if largest, known := p.daemons[name]; !known || more(s, largest) {
			p.daemons[name] = s
		}
	}
}

// more reports whether DaemonSets request a larger part in a than in b.
func more(a, b daemonSetShare) bool {
	high, low := bits.Mul64(uint64(a.RequestedMin), uint64(b.Allocatable))
	otherHigh, otherLow := bits.Mul64(uint64(b.RequestedMin), uint64(a.Allocatable))
	return high > otherHigh || high == otherHigh && low > otherLow
}

func (b *builder) pool(p *poolParts) facts.Pool {
	n := p.first
	s := atNode(n)
	row := facts.Pool{
		ID: b.subject(s), Name: p.name, Label: p.label, File: n.Span.File, Count: p.nodes, Max: p.max, Zones: append([]string{}, sorting.Keys(p.zones)...),
		Labels: p.labels, Taints: []facts.Taint{}, Allocatable: []facts.ResourceAmount{}, Workloads: append([]int{}, sorting.Keys(p.users)...),
	}
	if !p.uneven {
		row.Allocatable = amounts(n.Allocatable)
	}
	for _, t := range p.taints {
		row.Taints = append(row.Taints, b.taint(t.node, t.i, s))
	}
	namespaces := lists.SetOf(row.Workloads, func(w int) string { return b.Built.Facts.Workloads[w].Namespace })
	row.Namespaces = append([]string{}, sorting.Keys(namespaces)...)
	row.DaemonSets = []facts.DaemonSetShare{}
	for _, name := range sorting.Keys(p.daemons) {
		share := p.daemons[name]
		share.ID = b.subject(atNode(share.node))
		row.DaemonSets = append(row.DaemonSets, share.DaemonSetShare)
	}
	return row
}
