package topology

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
)

// maxNodes is the maximum number of nodes in a topology. A larger number is assumed to be a typo.
const maxNodes = 100_000

// Unbounded is the Max of a pool that grows as long as there are Pending pods.
const Unbounded = maxNodes

type topologyObject struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Pools      []PoolSpec       `json:"pools"`
	Nodes      []nodeSize       `json:"nodes"`
	Storage    storage.Declared `json:"storage"`
}

// nodeSize says what nodes with some labels offer, which another file declares.
type nodeSize struct {
	Labels      map[string]string   `json:"labels"`
	Allocatable corev1.ResourceList `json:"allocatable"`

	o    *source.Object
	item *source.Node
}

// NumberOrAny is the greatest number of nodes of a pool. The word any stands for Unbounded.
type NumberOrAny int

// UnmarshalJSON reads a number or the word any.
func (n *NumberOrAny) UnmarshalJSON(text []byte) error {
	if string(text) == `"any"` {
		*n = Unbounded
		return nil
	}
	return json.Unmarshal(text, (*int)(n))
}

// MarshalJSON writes the word any for Unbounded.
func (n NumberOrAny) MarshalJSON() ([]byte, error) {
	if n == Unbounded {
		return []byte(`"any"`), nil
	}
	return json.Marshal(int(n))
}

// NumberFromZero is a number that is not negative.
type NumberFromZero float64

// UnmarshalJSON reads a number.
func (n *NumberFromZero) UnmarshalJSON(text []byte) error {
	err := json.Unmarshal(text, (*float64)(n))
	if err == nil && *n < 0 {
		err = errors.New("negative")
	}
	return err
}

// NumberOrPercentage is a number from 0, or a percentage up to 100%.
type NumberOrPercentage struct{ intstr.IntOrString }

// UnmarshalJSON reads a number or a percentage.
func (n *NumberOrPercentage) UnmarshalJSON(text []byte) error {
	err := n.IntOrString.UnmarshalJSON(text)
	if err != nil {
		return err
	}
	amount, err := intstr.GetScaledValueFromIntOrPercent(&n.IntOrString, 100, true)
	if err == nil && (amount < 0 || n.Type == intstr.String && amount > 100) {
		err = errors.New("out of range")
	}
	return err
}

// none reports whether the number is 0.
func (n *NumberOrPercentage) none() bool { return n.String() == "0" || n.String() == "0%" }

// Upgrade says how many nodes a platform adds, and how many it takes away, at a time while it
// replaces the nodes of a pool. Percentages are of the number of nodes, rounded up.
type Upgrade struct {
	Surge       NumberOrPercentage `json:"surge,omitzero"`
	Unavailable NumberOrPercentage `json:"unavailable,omitzero"`
	// Zone is ZoneSame if each new node is in the zone of the node that it replaces, and ZoneAny if it
	// may be in any zone of the pool. The default is ZoneSame.
	Zone string `json:"zone,omitempty"`
	// Cordon is CordonAll if no pod may go to any old node once the upgrade has begun, and
	// CordonDrained if that is so only for nodes that are being drained. The default is CordonDrained.
	Cordon string `json:"cordon,omitempty"`
}

// Values of Upgrade.Zone and Upgrade.Cordon.
const (
	ZoneSame      = "same"
	ZoneAny       = "any"
	CordonDrained = "drained"
	CordonAll     = "all"
)

// Of returns the number for a pool of n nodes. Percentages round up.
func (n *NumberOrPercentage) Of(nodes int) int {
	amount, err := intstr.GetScaledValueFromIntOrPercent(&n.IntOrString, nodes, true)
	if err != nil { // UnmarshalJSON accepts no such text
		return 0
	}
	return amount
}

// PoolSpec is a pool as a NodeTopology declares it, in the order of printed fields.
type PoolSpec struct {
	Name  string         `json:"name"`
	Count *int           `json:"count"`
	Zones map[string]int `json:"zones"`
	Min   *int           `json:"min"`
	Max   *NumberOrAny   `json:"max"`
	// Cost is the cost of one node.
	Cost    *NumberFromZero `json:"cost"`
	Upgrade *Upgrade        `json:"upgrade"`
	// Complete is set if the labels and resources are all that the nodes have, as on a v1 Node. Live
	// is also set if they include the labels of storage drivers, as on a Node of a running cluster.
	Complete bool              `json:"complete"`
	Live     bool              `json:"live"`
	Labels   map[string]string `json:"labels"`
	// ZoneLabels holds more labels by zone. NameLabels lists the keys of labels that have the name of
	// the node as their value.
	ZoneLabels map[string]map[string]string `json:"zoneLabels"`
	NameLabels []string                     `json:"nameLabels"`
	// UnknownLabels lists the keys of labels whose values are not known. An entry that ends in a slash
	// stands for all keys of a domain.
	UnknownLabels []string            `json:"unknownLabels"`
	choices       []choice            // those of UnknownLabels that a NodePool of Karpenter chooses
	Taints        []corev1.Taint      `json:"taints"`
	Unschedulable bool                `json:"unschedulable"`
	Allocatable   corev1.ResourceList `json:"allocatable"`
	// Capacity holds the most that each node has of resources, before it reserves some of them.
	Capacity corev1.ResourceList `json:"capacity"`
	// Reserved holds the resources of each node that pods outside the manifests take.
	Reserved corev1.ResourceList `json:"reserved"`
	Volumes  map[string]int64    `json:"volumes"`
}

func (l *loader) pools(o *source.Object) {
	var in topologyObject
	broken := map[string]bool{} // pools with values of the wrong type, which are already reported
	for _, m := range l.decoder.Decode(o.Root, &in) {
		if !m.Unknown || m.Path != "metadata" {
			l.misfits(o, []source.Mismatch{m})
			pool, _, _ := strings.Cut(m.Path, ".")
			broken[pool] = true
		}
	}
	l.storage(o, &in.Storage)
	items := o.Root.Get("pools").Items()
	if len(items)+len(in.Nodes) == 0 && len(broken) == 0 {
		l.fail(o, diag.Span{}, "a NodeTopology needs pools, a list of {name, count}")
	}
	for i, item := range o.Root.Get("nodes").Items() {
		if name := fmt.Sprintf("nodes[%d]", i); !broken[name] {
			s := in.Nodes[i]
			s.o, s.item = o, item
			l.labels(o, name, item)
			if l.nodeSizes = append(l.nodeSizes, s); len(s.Allocatable) == 0 {
				l.fail(o, o.File.Span(item), "%s needs allocatable", name)
			}
		}
	}
	for i, p := range in.Pools {
		if broken[fmt.Sprintf("pools[%d]", i)] {
			continue
		}
		item, here := items[i], at(o, items[i])
		if len(validation.IsDNS1123Subdomain(p.Name)) > 0 {
			l.fail(o, here, "a pool needs a name that can be part of a node name, found %q", p.Name)
			continue
		}
		if first, twice := l.pooled[p.Name]; twice {
			l.fail(o, here, "pool %s is declared twice, for the first time at %s", p.Name, first)
			continue
		}
		l.pooled[p.Name] = l.place(o, here)
		l.taints(o, item.Get("taints"), p.Taints)
		pool := l.size(o, item, &p)
		if pool == nil {
			continue
		}
		before := len(l.errs)
		l.labels(o, "pool "+p.Name, item)
		l.moreLabels(o, item, &p)
		for k, v := range item.Get("volumes").Fields() {
			if n := p.Volumes[k.Value]; n < 0 || n > math.MaxInt32 || len(validation.IsDNS1123Subdomain(strings.ToLower(k.Value))) > 0 {
				l.fail(o, o.File.FieldSpan(k, v), "pool %s: volumes: %q: %d: expected the name of a CSI driver and a number from 0 to %d", p.Name, k.Value, n, math.MaxInt32)
			}
		}
		for k, v := range item.Get("reserved").Fields() {
			name := corev1.ResourceName(k.Value)
			q := p.Reserved[name]
			if _, has := p.Allocatable[name]; !has {
				l.fail(o, o.File.FieldSpan(k, v), "pool %s: reserved: %s needs an amount under allocatable, too", p.Name, name)
			} else if q.Sign() < 0 {
				l.fail(o, o.File.FieldSpan(k, v), "pool %s: reserved: %s is %s: expected a quantity from 0", p.Name, name, q.String())
			}
		}
		for k, v := range item.Get("capacity").Fields() {
			name := corev1.ResourceName(k.Value)
			if most, has := p.Capacity[name], p.Allocatable[name]; most.Sign() < 0 || most.Cmp(has) < 0 {
				l.fail(o, o.File.FieldSpan(k, v), "pool %s: capacity: %s is %s: expected a quantity from %s", p.Name, name, most.String(), has.String())
			}
		}
		if u := p.Upgrade; u != nil && u.Surge.none() && u.Unavailable.none() {
			l.fail(o, at(o, item, "upgrade"), "pool %s: upgrade needs a surge or unavailable above 0", p.Name)
		}
		if u := p.Upgrade; u != nil && !slices.Contains([]string{"", ZoneSame, ZoneAny}, u.Zone) {
			l.fail(o, at(o, item, "upgrade"), "pool %s: upgrade: zone: expected %s or %s, found %q", p.Name, ZoneSame, ZoneAny, u.Zone)
		}
		if u := p.Upgrade; u != nil && !slices.Contains([]string{"", CordonDrained, CordonAll}, u.Cordon) {
			l.fail(o, at(o, item, "upgrade"), "pool %s: upgrade: cordon: expected %s or %s, found %q", p.Name, CordonDrained, CordonAll, u.Cordon)
		}
		if len(l.errs) == before {
			l.pool(o, pool, &p)
		}
	}
}

// moreLabels checks the fields of a pool about labels that its nodes do not share.
func (l *loader) moreLabels(o *source.Object, item *source.Node, p *PoolSpec) {
	for k, v := range item.Get("zoneLabels").Fields() {
		if _, has := p.Zones[k.Value]; !has {
			l.fail(o, o.File.FieldSpan(k, v), "pool %s: zoneLabels: the pool has no zone %q", p.Name, k.Value)
		}
		for key, value := range v.Fields() {
			l.label(o, o.File.FieldSpan(key, value), "pool "+p.Name, key.Value, value.Text())
		}
	}
	for _, field := range []string{"nameLabels", "unknownLabels"} {
		for _, key := range item.Get(field).Items() {
			name := key.Text()
			if field == "unknownLabels" && strings.HasSuffix(name, "/") {
				name += "name"
			}
			l.label(o, o.File.Span(key), "pool "+p.Name, name, "")
		}
	}
}

// labels checks the labels of an item as the API server checks those of a Node.
func (l *loader) labels(o *source.Object, of string, item *source.Node) {
	for k, v := range item.Get("labels").Fields() {
		l.label(o, o.File.FieldSpan(k, v), of, k.Value, v.Text())
	}
}

func (l *loader) label(o *source.Object, at diag.Span, of, key, value string) {
	const word = "expected at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
	if len(validation.IsQualifiedName(key)) > 0 {
		l.fail(o, at, "%s: label key %q: %s, after an optional DNS prefix and '/'", of, key, word)
	}
	if len(validation.IsValidLabelValue(value)) > 0 {
		l.fail(o, at, "%s: label %s: %q: %s", of, key, value, word)
	}
}

// storage adds what a NodeTopology says about StorageClasses. All documents must say the same.
func (l *loader) storage(o *source.Object, in *storage.Declared) {
	known, node := &l.topo.Storage, o.Root.Get("storage")
	if known.Default != "" && in.Default != "" && known.Default != in.Default {
		l.fail(o, o.File.Span(node.Get("default")), "the default StorageClass is %s here and %s in another NodeTopology: declare it once", in.Default, known.Default)
	}
	for _, name := range sorting.Keys(in.Classes) {
		if was, twice := known.Classes[name]; twice && was != in.Classes[name] {
			l.fail(o, o.File.Span(node.At("classes", name)), "StorageClass %s is declared differently in another NodeTopology: declare every class once", name)
		}
	}
	*known = known.Over(*in)
}

// at returns the location of the first of the given fields that the pool sets. If the pool sets
// none of them, at returns the location of the pool's name.
func at(o *source.Object, item *source.Node, fields ...string) diag.Span {
	for _, field := range append(fields, "name") {
		if k, v := item.Field(field); k != nil {
			return o.File.FieldSpan(k, v)
		}
	}
	return o.File.Span(item)
}

// size returns a pool with its node counts, or nil if they are inconsistent. If the pool has zones,
// Count is the sum of their node counts. Otherwise, Count is the count field or, if that is not
// set, min. Min and Max default to Count.
func (l *loader) size(o *source.Object, item *source.Node, p *PoolSpec) *Pool {
	pool := &Pool{Name: p.Name, Span: at(o, item), Declaration: Declaration{o.File, item}}
	sum, ok := 0, true // sum of the zones
	for k, v := range item.Get("zones").Fields() {
		n := p.Zones[k.Value]
		if n < 0 || n > maxNodes || k.Value == "" || len(validation.IsValidLabelValue(k.Value)) > 0 {
			l.fail(o, o.File.FieldSpan(k, v), "pool %s: zone %q: %d: expected a zone name and a number from 0 to %d", p.Name, k.Value, n, maxNodes)
			ok = false
		}
		sum += n
	}
	switch {
	case !ok:
		return nil
	case p.Count != nil && p.Zones != nil && *p.Count != sum:
		l.fail(o, at(o, item, "count"), "pool %s has count %d, but its zones add up to %d: give count or zones", p.Name, *p.Count, sum)
		return nil
	case p.Zones != nil:
		pool.Count = sum
	case p.Count != nil:
		pool.Count = *p.Count
	case p.Min != nil:
		pool.Count = *p.Min
	default:
		l.fail(o, at(o, item), "pool %s needs count, zones or min", p.Name)
		return nil
	}
	pool.Min, pool.Max = *cmp.Or(p.Min, &pool.Count), pool.Count
	if p.Max != nil {
		pool.Max = int(*p.Max)
	}
	if pool.Min < 0 || pool.Min > pool.Count || pool.Count > pool.Max || pool.Max > maxNodes {
		l.fail(o, at(o, item, "count", "zones", "min"), "pool %s: expected 0 <= min <= count <= max <= %d, found min %d, count %d, max %d", p.Name, maxNodes, pool.Min, pool.Count, pool.Max)
		return nil
	}
	return pool
}

// pool adds the nodes of a pool and the nodes that it may add later.
func (l *loader) pool(o *source.Object, pool *Pool, p *PoolSpec) {
	extra := pool.Max - pool.Count
	if pool.Mixed = pool.Spec != nil; !pool.Mixed {
		pool.Spec, l.topo.Pools = p, append(l.topo.Pools, pool)
	}
	l.topo.Extended.add(p.Allocatable)
	l.controls = l.controls || controls(p.Labels)
	l.features = l.features || p.open()
	if len(l.topo.Nodes)+pool.Count > maxNodes {
		l.fail(o, pool.Span, "pool %s: the pools add up to more than %d nodes", p.Name, maxNodes)
		return
	}
	zones := p.Zones
	if zones == nil {
		zones = map[string]int{"": pool.Count}
	}
	for _, zone := range sorting.Keys(zones) {
		l.topo.mayHave(poolNode(pool, p, zone, 0), p.UnknownLabels...)
		for _, c := range p.choices {
			if len(c.rules) > 0 {
				l.topo.ruled[c.key] = append(l.topo.ruled[c.key], c.rules)
			}
		}
		for i := range zones[zone] {
			l.add(o, poolNode(pool, p, zone, i))
		}
		if extra > 0 {
			node := poolNode(pool, p, zone, zones[zone])
			node.Extended = l.topo.Extended
			l.topo.Growth = append(l.topo.Growth, Growth{Node: node, Extra: extra, choices: p.choices})
		}
	}
}

// open reports whether the nodes of a pool may have labels of Node Feature Discovery that it does not
// declare. A pool that declares one of them declares all (R-S18).
func (p *PoolSpec) open() bool {
	declared := slices.Concat(slices.Collect(maps.Keys(p.Labels)), p.NameLabels, p.UnknownLabels)
	for _, labels := range p.ZoneLabels {
		declared = append(declared, slices.Collect(maps.Keys(labels))...)
	}
	return !p.Complete && !p.Live && !slices.ContainsFunc(declared, featureLabel)
}

// poolNode returns a pool's i-th node in a zone. Its hostname, os and arch labels have the values
// that a kubelet would set. The zone label comes from the pool declaration, and no other label is
// derived from the zone (R-S3). The deprecated os and arch labels have the same values as the
// current ones, because the node lifecycle controller keeps them in sync
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go, labelReconcileInfo; R-S11).
func poolNode(pool *Pool, p *PoolSpec, zone string, i int) *Node {
	name := p.Name
	if zone != "" {
		name += "-" + zone
	}
	name = fmt.Sprintf("%s-%d", name, i)
	labels, exact := map[string]string{corev1.LabelHostname: name}, p.Complete || p.Live
	if !exact {
		labels[corev1.LabelOSStable], labels[corev1.LabelArchStable] = "linux", "amd64"
	}
	if zone != "" {
		labels[corev1.LabelTopologyZone] = zone
	}
	for _, key := range p.UnknownLabels {
		delete(labels, key)
	}
	maps.Copy(labels, p.Labels)
	maps.Copy(labels, p.ZoneLabels[zone])
	for _, key := range p.NameLabels {
		labels[key] = name
	}
	for _, old := range []string{betaOS, betaArch} {
		if value, has := labels[deprecated[old]]; has && !exact {
			labels[old] = value
		}
	}
	labels[Cluster] = Cluster
	n := &Node{Name: name, Labels: labels, Taints: withCordonTaint(p.Taints, p.Unschedulable), Unschedulable: p.Unschedulable, Live: p.Live, Capacity: p.Capacity, Pool: pool, Span: pool.Span, Declaration: pool.Declaration}
	if len(p.Allocatable) > 0 {
		n.Whole = exact && isWhole(p.Live, p.Allocatable)
		n.Allocatable, n.Reserved = Reserve(p.Allocatable, p.Reserved)
	}
	if len(p.Volumes) > 0 {
		n.Volumes = map[corev1.ResourceName]int64{}
	}
	for driver, most := range p.Volumes {
		n.Volumes[Attachable(driver)] = most
	}
	return n
}

// Reserve returns what pods of the manifests can use of the resources of a node, at least 0, and how
// much less that is (R-S20).
func Reserve(all, reserved corev1.ResourceList) (left, less corev1.ResourceList) {
	if len(reserved) == 0 {
		return all, nil
	}
	left, less = maps.Clone(all), corev1.ResourceList{}
	for name, q := range all {
		if most, has := reserved[name]; has {
			if q.Cmp(most) < 0 {
				most = q
			}
			rest := q.DeepCopy()
			rest.Sub(most)
			left[name], less[name] = rest, most
		}
	}
	return left, less
}
