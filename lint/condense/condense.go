package condense

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Cluster is a topology of few pools.
type Cluster struct {
	pools []pool
	// nodes stay as they are.
	nodes   []*topology.Node
	stored  []*source.Object
	storage storage.Declared
	// renamed is the number of nodes that are in pools now. left counts objects that are left out, by
	// kind.
	renamed int
	left    map[string]int
	from    *topology.Topology
	// reserved holds the total requests of the counted pods on each node, by node name. counted is the
	// number of these pods. excepted is set if pods are left out because a workload makes them.
	reserved map[string]corev1.ResourceList
	counted  int
	excepted bool
	// kubelets counts the nodes by the version of their kubelet.
	kubelets map[string]int
}

// pool is a pool with what a comment says about it.
type pool struct {
	*topology.PoolSpec
	comments []string
}

// Of condenses a topology. The objects are those of its files. The pods among them take room of their
// nodes, unless they belong to one of the workloads in except.
func Of(topo *topology.Topology, objects []*source.Object, except ...diag.Object) *Cluster {
	c := &Cluster{storage: topo.Storage, left: map[string]int{}, from: topo, reserved: map[string]corev1.ResourceList{}, excepted: len(except) > 0, kubelets: map[string]int{}}
	var pods []*source.Object
	for _, o := range objects {
		switch {
		case o.APIVersion == "v1" && o.Kind == "Pod":
			pods = append(pods, o)
		case workload.Stores(o):
			c.stored = append(c.stored, o)
		case !topology.DeclaresIfNamed(o) && o.Kind != "CSINode":
			c.left[o.Kind]++
		}
		if version := o.Root.At("status", "nodeInfo", "kubeletVersion").Text(); version != "" {
			c.kubelets[version]++
		}
	}
	c.reserve(pods, except)
	c.stored = append(c.stored, topo.Stored...)
	slices.SortStableFunc(c.stored, func(a, b *source.Object) int { // the first declaration of a class wins
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	taken := map[string]bool{}
	for _, p := range topo.Pools {
		c.pools = append(c.pools, pool{sized(p, topo.Open()), []string{"Pool of " + p.Declaration.File.Display}})
		take(taken, p.Spec)
	}
	k, named, groups := study(topo.Nodes), words(c.stored), map[string][]*topology.Node{}
	for _, n := range topo.Nodes {
		switch {
		case n.Pool != nil:
		case k.stays(n, named):
			c.nodes = append(c.nodes, n)
			for _, name := range []string{n.Name, n.Labels[corev1.LabelHostname]} {
				taken[name[:max(strings.LastIndexByte(name, '-'), 0)]] = true
			}
		default:
			key := k.group(n)
			groups[key] = append(groups[key], n)
			c.renamed++
		}
	}
	var made []pool
	for _, key := range sorting.Keys(groups) {
		for _, alike := range c.split(groups[key]) {
			p := k.pool(alike, topo.Open())
			p.comments = append(p.comments, c.most(p.PoolSpec, alike)...)
			made = append(made, p)
		}
	}
	sorting.Stable(made, func(a, b pool) int { return cmp.Compare(a.Name, b.Name) })
	last := map[string]int{} // the last number after a name
	for _, p := range made {
		for base := p.Name; !take(taken, p.PoolSpec); {
			last[base] = max(last[base], 1) + 1
			p.Name = fmt.Sprintf("%s-%d", base, last[base])
		}
		c.pools = append(c.pools, p)
	}
	sorting.Stable(c.pools, func(a, b pool) int { return cmp.Compare(a.Name, b.Name) })
	return c
}

// sized returns a declared pool with its number of nodes and the labels that are open in the cluster.
// Deprecated labels follow from those that replaced them.
func sized(p *topology.Pool, open []string) *topology.PoolSpec {
	spec := *p.Spec
	open = slices.DeleteFunc(open, func(key string) bool {
		_, deprecated := topology.Deprecated(key)
		_, has := spec.Labels[key]
		return deprecated || has || key == corev1.LabelTopologyZone && spec.Zones != nil
	})
	spec.UnknownLabels = slices.Compact(slices.Sorted(slices.Values(slices.Concat(spec.UnknownLabels, open))))
	if spec.Zones == nil {
		spec.Count = &p.Count
	}
	if p.Min < p.Count {
		spec.Min = &p.Min
	}
	if p.Max > p.Count {
		most := topology.NumberOrAny(p.Max)
		spec.Max = &most
	}
	return &spec
}

// take reserves the names of a pool's nodes. It reports whether no other node can have them.
func take(taken map[string]bool, p *topology.PoolSpec) bool {
	names := []string{p.Name}
	for zone := range p.Zones {
		names = append(names, p.Name+"-"+zone)
	}
	if slices.ContainsFunc(names, func(name string) bool { return taken[name] }) {
		return false
	}
	for _, name := range names {
		taken[name] = true
	}
	return true
}

// keys says what the labels of a cluster are good for.
type keys struct {
	// hosts counts the values of the hostname label.
	hosts map[string]int
	// named holds the keys of labels that name the node, dropped those of other labels that tell nodes
	// apart.
	named, dropped map[string]bool
	// zonal holds the keys of labels whose value depends on the zone only.
	zonal map[string]bool
}

// groupKeys returns the keys of labels that name a group of nodes, the most telling first.
func groupKeys() []string {
	return []string{
		"eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "agentpool",
		"karpenter.sh/nodepool", "kops.k8s.io/instancegroup", "node.cluster.x-k8s.io/machine-pool", "node-pool", "nodepool", "pool",
	}
}

// identifies reports whether the label with a key tells nodes apart in any cluster.
func identifies(key string) bool {
	_, name, _ := strings.Cut(key, "/")
	return slices.Contains([]string{"instance-id", "hostid", "host-id", "machine-id", "provider-id", "internal-ip", "external-ip"}, name)
}

// fewNodes is the most nodes on which a label may have as many values as nodes and still be one that
// groups nodes, as racks do.
const fewNodes = 3

func study(nodes []*topology.Node) *keys {
	k := &keys{hosts: map[string]int{}, named: map[string]bool{}, dropped: map[string]bool{}, zonal: map[string]bool{}}
	type use struct {
		nodes, hosts int // nodes with the label, and those that have their hostname as its value
		values       map[string]bool
		ofZone       map[string]string
		mixed        bool // in some zone
	}
	uses := map[string]*use{}
	for _, n := range nodes {
		k.hosts[n.Labels[corev1.LabelHostname]]++
		zone := n.Labels[corev1.LabelTopologyZone]
		for key, value := range n.Labels {
			u := uses[key]
			if u == nil {
				u = &use{values: map[string]bool{}, ofZone: map[string]string{}}
				uses[key] = u
			}
			u.nodes++
			u.values[value] = true
			if value == n.Labels[corev1.LabelHostname] {
				u.hosts++
			}
			if was, has := u.ofZone[zone]; has && was != value {
				u.mixed = true
			}
			u.ofZone[zone] = value
		}
	}
	kept := append(groupKeys(), corev1.LabelInstanceTypeStable, corev1.LabelInstanceType)
	for key, u := range uses {
		unique := len(u.values) == u.nodes
		switch {
		case key == corev1.LabelHostname || key == corev1.LabelTopologyZone || key == topology.Cluster || slices.Contains(kept, key):
		case unique && (storage.TopologyKey(key) == corev1.LabelHostname || u.hosts == u.nodes && u.nodes > 1):
			k.named[key] = true
		case identifies(key):
			k.dropped[key] = true
		case !u.mixed:
			k.zonal[key] = true
		case unique && u.nodes > fewNodes && key != corev1.LabelTopologyRegion && key != corev1.LabelFailureDomainBetaRegion:
			k.dropped[key] = true
		}
	}
	return k
}

// stays reports whether a node stays a Node, because a pool cannot describe it or an object names it.
func (k *keys) stays(n *topology.Node, named map[string]bool) bool {
	host, has := n.Labels[corev1.LabelHostname]
	if !has || k.hosts[host] > 1 || named[n.Name] {
		return true
	}
	for key, value := range n.Labels {
		if key == topology.Cluster {
			continue
		}
		one := key == corev1.LabelHostname || k.named[key] || k.dropped[key]
		if one && named[value] || len(validation.IsQualifiedName(key))+len(validation.IsValidLabelValue(value)) > 0 {
			return true
		}
	}
	for name, count := range n.Volumes {
		if len(validation.IsDNS1123Subdomain(strings.ToLower(topology.Driver(name)))) > 0 || count > math.MaxInt32 {
			return true
		}
	}
	return false
}

// words returns all scalars of the objects.
func words(objects []*source.Object) map[string]bool {
	all := map[string]bool{}
	for _, o := range objects {
		o.Root.Decoded(func(n *source.Node) any {
			if n.Value != "" {
				all[n.Value] = true
			}
			return nil
		})
	}
	return all
}

// group returns a key that nodes have in common if a pool can describe all of them, apart from the
// amounts of resources.
func (k *keys) group(n *topology.Node) string {
	var b strings.Builder
	zone := n.Labels[corev1.LabelTopologyZone]
	fmt.Fprint(&b, n.Live, n.Whole, n.Unschedulable, zone != "")
	for _, key := range sorting.Keys(n.Labels) {
		switch {
		case key == corev1.LabelHostname || key == topology.Cluster || k.dropped[key]:
		case k.named[key] || zone != "" && (k.zonal[key] || key == corev1.LabelTopologyZone):
			fmt.Fprintf(&b, " %q", key)
		default:
			fmt.Fprintf(&b, " %q:%q", key, n.Labels[key])
		}
	}
	for _, t := range taints(n) {
		fmt.Fprintf(&b, " %q=%q:%q", t.Key, t.Value, t.Effect)
	}
	for _, name := range sorting.Keys(n.Volumes) {
		fmt.Fprintf(&b, " %q<%d", name, n.Volumes[name])
	}
	fmt.Fprintf(&b, " %q", sorting.Keys(n.Allocatable))
	return b.String()
}

// taints returns the taints of a node in order, without times and without the taint that a cordoned
// node has anyway.
func taints(n *topology.Node) (all []corev1.Taint) {
	for _, t := range n.Taints {
		t.TimeAdded = nil
		if cordon := (corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}); !n.Unschedulable || t != cordon {
			all = append(all, t)
		}
	}
	sorting.Stable(all, func(a, b corev1.Taint) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Value, b.Value))
	})
	return all
}

// near reports whether amounts of a resource differ by less than 0.1 percent.
func near(low, high float64) bool { return low == high || low > 0 && high < 1.001*low }

// split divides nodes of a group into sets of those whose resources are nearly equal, and those that
// pods leave of them. Nodes that have more left come first: a pool that grows adds nodes like them.
func (c *Cluster) split(nodes []*topology.Node) (all [][]*topology.Node) {
	names, amounts := sorting.Keys(nodes[0].Allocatable), map[*topology.Node][]float64{}
	for _, n := range nodes {
		left, _ := topology.Reserve(n.Allocatable, c.reserved[n.Name])
		for _, list := range []corev1.ResourceList{left, n.Allocatable} {
			for _, name := range names {
				q := list[name]
				amounts[n] = append(amounts[n], q.AsApproximateFloat64())
			}
		}
	}
	slices.SortStableFunc(nodes, func(a, b *topology.Node) int { return slices.Compare(amounts[b], amounts[a]) })
	var low, high [][]float64
nodes:
	for _, n := range nodes {
	sets:
		for set := range all {
			for i, amount := range amounts[n] {
				if !near(min(low[set][i], amount), max(high[set][i], amount)) {
					continue sets
				}
			}
			for i, amount := range amounts[n] {
				low[set][i], high[set][i] = min(low[set][i], amount), max(high[set][i], amount)
			}
			all[set] = append(all[set], n)
			continue nodes
		}
		all, low, high = append(all, []*topology.Node{n}), append(low, slices.Clone(amounts[n])), append(high, slices.Clone(amounts[n]))
	}
	return all
}

// pool returns the pool of some nodes. The keys in open are those of labels that nodes may have.
func (k *keys) pool(nodes []*topology.Node, open []string) pool {
	first := nodes[0]
	p := &topology.PoolSpec{Live: first.Live, Complete: !first.Live, Labels: map[string]string{}, Taints: taints(first), Unschedulable: first.Unschedulable}
	count, unknown, of, files := len(nodes), map[string]bool{}, map[string]*topology.Node{}, map[string]bool{}
	for _, n := range nodes {
		files[n.Declaration.File.Display] = true
		for key := range n.Labels {
			unknown[key] = unknown[key] || k.dropped[key]
		}
		if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
			if p.Zones == nil {
				p.Zones = map[string]int{}
			}
			p.Zones[zone]++
			of[zone] = n
		}
	}
	if p.Zones == nil {
		p.Count = &count
	}
	for key, value := range first.Labels {
		switch {
		case key == topology.Cluster || key == corev1.LabelHostname || key == corev1.LabelTopologyZone && p.Zones != nil || k.dropped[key]:
		case k.named[key]:
			p.NameLabels = append(p.NameLabels, key)
		case !slices.ContainsFunc(slices.Collect(maps.Values(of)), func(n *topology.Node) bool { return n.Labels[key] != value }):
			p.Labels[key] = value
		default:
			if p.ZoneLabels == nil {
				p.ZoneLabels = map[string]map[string]string{}
			}
			for zone, n := range of {
				if p.ZoneLabels[zone] == nil {
					p.ZoneLabels[zone] = map[string]string{}
				}
				p.ZoneLabels[zone][key] = n.Labels[key]
			}
		}
	}
	slices.Sort(p.NameLabels)
	for _, key := range open {
		if _, has := first.Labels[key]; !has && !first.Live {
			unknown[key] = true
		}
	}
	for _, key := range sorting.Keys(unknown) {
		if unknown[key] {
			p.UnknownLabels = append(p.UnknownLabels, key)
		}
	}
	for name, most := range first.Volumes {
		if p.Volumes == nil {
			p.Volumes = map[string]int64{}
		}
		p.Volumes[topology.Driver(name)] = most
	}
	comments := []string{plural(count, "node") + " of " + strings.Join(sorting.Keys(files), ", ")}
	comments = append(comments, least(p, nodes)...)
	p.Name = name(first.Labels)
	return pool{p, comments}
}

// least sets the resources of a pool, and says which of them differ.
func least(p *topology.PoolSpec, nodes []*topology.Node) (comments []string) {
	p.Allocatable = maps.Clone(nodes[0].Allocatable)
	for _, name := range sorting.Keys(p.Allocatable) {
		low, high := bounds(nodes, func(n *topology.Node) resource.Quantity { return n.Allocatable[name] })
		if p.Allocatable[name] = low; high.Cmp(low) > 0 {
			comments = append(comments, fmt.Sprintf("%s: the least of its nodes, the most is %s", name, high.String()))
		}
	}
	return comments
}

// name proposes a name for the pool of nodes with some labels.
func name(labels map[string]string) string {
	candidates := []string{}
	candidates = append(candidates, lists.Of(groupKeys(), func(key string) string { return labels[key] })...)
	for _, key := range sorting.Keys(labels) {
		role, _ := strings.CutPrefix(key, "node-role.kubernetes.io/")
		if role != key {
			candidates = append(candidates, role)
		}
	}
	for _, text := range append(candidates, labels[corev1.LabelInstanceTypeStable]) {
		text = strings.ReplaceAll(strings.ToLower(text), "_", "-")
		if len(validation.IsDNS1123Subdomain(text)) == 0 {
			return text
		}
	}
	return "nodes"
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}
