package topology

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
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
	Pools      []poolObject     `json:"pools"`
	Storage    storage.Declared `json:"storage"`
}

type poolObject struct {
	Name          string              `json:"name"`
	Count         *int                `json:"count"`
	Zones         map[string]int      `json:"zones"`
	Min           *int                `json:"min"`
	Max           *int                `json:"max"`
	Labels        map[string]string   `json:"labels"`
	Taints        []corev1.Taint      `json:"taints"`
	Allocatable   corev1.ResourceList `json:"allocatable"`
	Volumes       map[string]int64    `json:"volumes"`
	Unschedulable bool                `json:"unschedulable"`
	// Open lists the keys of labels whose values are not known.
	Open []string `json:"-"`
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
	if len(items) == 0 && len(broken) == 0 {
		l.fail(o, diag.Span{}, "a NodeTopology needs pools, a list of {name, count}")
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
		for k, v := range item.Get("volumes").Fields() {
			if n := p.Volumes[k.Value]; n < 0 || n > math.MaxInt32 || len(validation.IsDNS1123Subdomain(strings.ToLower(k.Value))) > 0 {
				l.fail(o, o.File.FieldSpan(k, v), "pool %s: volumes: %q: %d: expected the name of a CSI driver and a number from 0 to %d", p.Name, k.Value, n, math.MaxInt32)
			}
		}
		if len(l.errs) == before {
			l.pool(o, pool, &p)
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
	for _, why := range slices.Concat(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)) {
		l.fail(o, at, "%s: label %s: %q: %s", of, key, value, why)
	}
}

// storage adds what a NodeTopology says about StorageClasses. All documents must say the same.
func (l *loader) storage(o *source.Object, in *storage.Declared) {
	known, node := &l.topo.Storage, o.Root.Get("storage")
	if known.Default != "" && in.Default != "" && known.Default != in.Default {
		l.fail(o, o.File.Span(node.Get("default")), "the default StorageClass is %s here and %s in another NodeTopology: declare it once", in.Default, known.Default)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Classes)) {
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
func (l *loader) size(o *source.Object, item *source.Node, p *poolObject) *Pool {
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
	pool.Min, pool.Max = *cmp.Or(p.Min, &pool.Count), *cmp.Or(p.Max, &pool.Count)
	if pool.Min < 0 || pool.Min > pool.Count || pool.Count > pool.Max || pool.Max > maxNodes {
		l.fail(o, at(o, item, "count", "zones", "min"), "pool %s: expected 0 <= min <= count <= max <= %d, found min %d, count %d, max %d", p.Name, maxNodes, pool.Min, pool.Count, pool.Max)
		return nil
	}
	return pool
}

// pool adds the nodes of a pool and the nodes that it may add later.
func (l *loader) pool(o *source.Object, pool *Pool, p *poolObject) {
	extra := pool.Max - pool.Count
	l.topo.Extended.add(p.Allocatable)
	l.controls = l.controls || controls(p.Labels)
	if len(l.topo.Nodes)+pool.Count > maxNodes {
		l.fail(o, pool.Span, "pool %s: the pools add up to more than %d nodes", p.Name, maxNodes)
		return
	}
	zones := p.Zones
	if zones == nil {
		zones = map[string]int{"": pool.Count}
	}
	for _, zone := range slices.Sorted(maps.Keys(zones)) {
		l.topo.mayHave(poolNode(pool, p, zone, 0).Labels, p.Open...)
		for i := range zones[zone] {
			l.add(o, poolNode(pool, p, zone, i))
		}
		if extra > 0 {
			node := poolNode(pool, p, zone, zones[zone])
			node.Extended = l.topo.Extended
			l.topo.Growth = append(l.topo.Growth, Growth{Node: node, Extra: extra})
		}
	}
}

// poolNode returns a pool's i-th node in a zone. Its hostname, os and arch labels have the values
// that a kubelet would set. The zone label comes from the pool declaration, and no other label is
// derived from the zone (R-S3). The deprecated os and arch labels have the same values as the
// current ones, because the node lifecycle controller keeps them in sync
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go, labelReconcileInfo; R-S11).
func poolNode(pool *Pool, p *poolObject, zone string, i int) *Node {
	name := p.Name
	if zone != "" {
		name += "-" + zone
	}
	name = fmt.Sprintf("%s-%d", name, i)
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}
	if zone != "" {
		labels[corev1.LabelTopologyZone] = zone
	}
	for _, key := range p.Open {
		delete(labels, key)
	}
	maps.Copy(labels, p.Labels)
	labels[Cluster] = Cluster
	for old, key := range map[string]string{betaArch: corev1.LabelArchStable, betaOS: corev1.LabelOSStable} {
		if value, known := labels[key]; known {
			labels[old] = value
		}
	}
	n := &Node{Name: name, Labels: labels, Taints: withCordonTaint(p.Taints, p.Unschedulable), Unschedulable: p.Unschedulable, Pool: pool, Span: pool.Span, Declaration: pool.Declaration}
	if len(p.Allocatable) > 0 {
		n.Allocatable = p.Allocatable
	}
	if len(p.Volumes) > 0 {
		n.Volumes = map[corev1.ResourceName]int64{}
	}
	for driver, most := range p.Volumes {
		n.Volumes[Attachable(driver)] = most
	}
	return n
}
