package topology

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// maxNodes bounds one pool: beyond it a number is a slip of the finger.
const maxNodes = 100_000

type topologyObject struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Pools      []poolObject `json:"pools"`
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
	Unschedulable bool                `json:"unschedulable"`
}

func corev1ResourceEqual(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }

// pools reads one NodeTopology document.
func (l *loader) pools(o *source.Object) {
	var in topologyObject
	for _, m := range l.decoder.Decode(o.Root, &in) {
		if !m.Unknown || m.Path != "metadata" {
			l.misfits(o, []source.Mismatch{m})
		}
	}
	items := o.Root.Get("pools").Items()
	if len(items) == 0 {
		l.fail(o, diag.Span{}, "a NodeTopology needs pools, a list of {name, count}")
	}
	seen := map[string]bool{}
	for i, p := range in.Pools {
		at := o.File.Span(items[i])
		if k, v := items[i].Field("name"); k != nil {
			at = o.File.FieldSpan(k, v)
		}
		if msgs := validation.IsDNS1123Subdomain(p.Name); len(msgs) > 0 {
			l.fail(o, at, "a pool needs a name that can be part of a node name, found %q", p.Name)
			continue
		}
		if seen[p.Name] {
			l.fail(o, at, "pool %s is declared twice", p.Name)
			continue
		}
		seen[p.Name] = true
		l.taints(o, items[i].Get("taints"), p.Taints)
		if pool := l.size(o, at, &p); pool != nil {
			l.pool(o, pool, &p)
		}
	}
}

// size settles how many nodes a pool has: count, or the sum of its zones, or
// min; and how many it may have: max, or just as many.
func (l *loader) size(o *source.Object, at diag.Span, p *poolObject) *Pool {
	pool := &Pool{Name: p.Name, Span: at}
	sum := 0
	for zone, n := range p.Zones {
		if n < 0 || n > maxNodes || len(validation.IsValidLabelValue(zone)) > 0 || zone == "" {
			l.fail(o, at, "pool %s: zone %q: %d: expected a zone name and a number from 0 to %d", p.Name, zone, n, maxNodes)
			return nil
		}
		sum += n
	}
	switch {
	case p.Count != nil && p.Zones != nil && *p.Count != sum:
		l.fail(o, at, "pool %s has count %d, but its zones add up to %d: give count or zones", p.Name, *p.Count, sum)
		return nil
	case p.Zones != nil:
		pool.Count = sum
	case p.Count != nil:
		pool.Count = *p.Count
	case p.Min != nil:
		pool.Count = *p.Min
	default:
		l.fail(o, at, "pool %s needs count, zones or min", p.Name)
		return nil
	}
	pool.Min, pool.Max = pool.Count, pool.Count
	if p.Min != nil {
		pool.Min = *p.Min
	}
	if p.Max != nil {
		pool.Max = *p.Max
	}
	if pool.Min < 0 || pool.Min > pool.Count || pool.Count > pool.Max || pool.Max > maxNodes {
		l.fail(o, at, "pool %s: expected 0 <= min <= count <= max <= %d, found min %d, count %d, max %d", p.Name, maxNodes, pool.Min, pool.Count, pool.Max)
		return nil
	}
	return pool
}

// pool adds the nodes of a pool and the room that it has to grow.
func (l *loader) pool(o *source.Object, pool *Pool, p *poolObject) {
	extra := pool.Max - pool.Count
	if p.Zones == nil {
		l.zone(o, pool, p, "", pool.Count, extra)
		return
	}
	for _, zone := range slices.Sorted(maps.Keys(p.Zones)) {
		l.zone(o, pool, p, zone, p.Zones[zone], extra)
	}
}

func (l *loader) zone(o *source.Object, pool *Pool, p *poolObject, zone string, count, extra int) {
	for i := range count {
		l.add(o, poolNode(pool, p, zone, i))
	}
	if extra > 0 {
		l.topo.Growth = append(l.topo.Growth, Growth{Node: poolNode(pool, p, zone, count), Extra: extra})
	}
}

// poolNode is the i-th node of a pool in a zone. Hostname, os and arch are what
// a kubelet would set; the zone is what the pool says, nothing else (R-S3).
func poolNode(pool *Pool, p *poolObject, zone string, i int) *Node {
	name := pool.Name
	if zone != "" {
		name += "-" + zone
	}
	name = fmt.Sprintf("%s-%d", name, i)
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}
	if zone != "" {
		labels[corev1.LabelTopologyZone] = zone
	}
	maps.Copy(labels, p.Labels)
	n := &Node{Name: name, Labels: labels, Taints: p.Taints, Unschedulable: p.Unschedulable, Pool: pool, Span: pool.Span}
	if len(p.Allocatable) > 0 {
		n.Allocatable = p.Allocatable
	}
	return n
}
