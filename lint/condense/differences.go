package condense

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
)

// kind is a pool or a single node, as Differences compares them.
type kind struct {
	name            string
	count, min, max int
	// zones holds the number of nodes by zone, and labels their labels.
	zones  map[string]int
	labels map[string]map[string]string
	// has holds taints and so on, as text by name.
	has         map[string]string
	allocatable corev1.ResourceList
	// exact is set if amounts of resources that would share a pool differ.
	exact bool
}

// mostRenamed is the number of pools for which Differences looks for other names.
const mostRenamed = 100

// Differences says how two condensed topologies differ, pool by pool. The names of pools do not
// matter, nor does the number of nodes if it is within the bounds of the first topology. Amounts of
// resources that would share a pool are equal.
func Differences(was, now *topology.Topology) (all []string) {
	before, after, byName := kinds(was, merged(was.Pools)), kinds(now, merged(now.Pools)), map[string]*kind{}
	for _, b := range after {
		byName[b.name] = b
	}
	pairs, taken := map[*kind]*kind{}, map[*kind]bool{}
	pair := func(a, b *kind) { pairs[a], taken[b] = b, true }
	var rest []*kind
	for _, a := range before {
		if b := byName[a.name]; b != nil {
			pair(a, b)
		} else {
			rest = append(rest, a)
		}
	}
	if len(rest)*(len(after)-len(taken)) > mostRenamed*mostRenamed {
		rest = nil
	}
	for _, a := range rest {
		same := func(b *kind) bool { return !taken[b] && len(a.differences(b)) == 0 }
		if i := slices.IndexFunc(after, same); i >= 0 {
			pair(a, after[i])
		}
	}
	for _, a := range before {
		if b := pairs[a]; b != nil {
			all = append(all, lists.Of(a.differences(b), func(text string) string { return a.name + ": " + text })...)
		} else if a.min > 0 {
			all = append(all, a.name+": has no nodes now")
		}
	}
	for _, b := range after {
		if !taken[b] {
			all = append(all, fmt.Sprintf("%s: new, %s", b.name, plural(b.count, "node")))
		}
	}
	return append(all, open(was, now)...)
}

// open says how the labels differ whose values are not known.
func open(was, now *topology.Topology) []string {
	return lists.Of(changed(set(was.Open()), set(now.Open())), func(key string) string { return "unknown labels: " + key })
}

// set returns a map with some keys, for changed.
func set(words []string) map[string]string {
	all := map[string]string{}
	for _, word := range words {
		all[word] = ""
	}
	return all
}

// kinds returns the pools and single nodes of a topology, sorted by name. merged maps pools to those
// that stand for them. If it is nil, pools have all their fields, and amounts must be equal.
func kinds(topo *topology.Topology, merged map[*topology.Pool]*topology.Pool) []*kind {
	of, counted := map[string]*kind{}, map[*topology.Pool]bool{}
	for i, n := range topo.All() {
		name, k, p := "node "+n.Name, &kind{count: 1, min: 1, max: 1, allocatable: n.Allocatable}, n.Pool
		if p != nil {
			name, k = "pool "+cmp.Or(merged[p], p).Name, &kind{count: p.Count, min: p.Min, max: p.Max, allocatable: p.Spec.Allocatable}
		}
		if known := of[name]; known == nil {
			k.name, k.zones, k.labels, k.has, k.exact = name, map[string]int{}, map[string]map[string]string{}, has(n), merged == nil
			if of[name] = k; k.exact {
				k.declare(n)
			}
		} else if !counted[p] {
			known.count, known.min, known.max = known.count+p.Count, known.min+p.Min, min(known.max+p.Max, topology.Unbounded)
		}
		counted[p] = true
		k, zone := of[name], n.Labels[corev1.LabelTopologyZone]
		k.zones[zone] += 0
		if i < len(topo.Nodes) { // the others are those that pools may add
			k.zones[zone]++
		}
		if k.exact && p == nil { // a node may get another zone
			zone = ""
		}
		k.labels[zone] = map[string]string{}
		for key, value := range n.Labels {
			if value == n.Name {
				value = "(name of the node)"
			}
			k.labels[zone]["label "+key] = value
		}
	}
	return lists.Of(sorting.Keys(of), func(name string) *kind { return of[name] })
}

// merged maps pools to the first of those that differ only in what pods take of their nodes.
func merged(pools []*topology.Pool) map[*topology.Pool]*topology.Pool {
	all, alike := map[*topology.Pool]*topology.Pool{}, map[string][]*topology.Pool{}
	for _, p := range pools {
		spec := *p.Spec
		spec.Name, spec.Count, spec.Min, spec.Max, spec.Zones, spec.ZoneLabels, spec.Allocatable, spec.Reserved = "", nil, nil, nil, nil, nil, nil, nil
		key := fmt.Sprint(p.Spec.Zones != nil, fields(reflect.ValueOf(spec)))
		all[p] = p
		if i := slices.IndexFunc(alike[key], func(o *topology.Pool) bool {
			return len(o.Spec.Reserved)+len(p.Spec.Reserved) > 0 && maps.EqualFunc(o.Spec.Allocatable, p.Spec.Allocatable, nearlyEqual)
		}); i >= 0 {
			all[p] = alike[key][i]
		} else {
			alike[key] = append(alike[key], p)
		}
	}
	return all
}

// nearlyEqual reports whether two amounts of a resource would share a pool.
func nearlyEqual(a, b resource.Quantity) bool {
	x, y := a.AsApproximateFloat64(), b.AsApproximateFloat64()
	return near(min(x, y), max(x, y))
}

// has describes what all nodes of a pool have, apart from labels and resources.
func has(n *topology.Node) map[string]string {
	all := map[string]string{}
	for _, t := range taints(n) {
		all["taint "+t.ToString()] = ""
	}
	if n.Unschedulable {
		all["unschedulable"] = ""
	}
	for name, most := range n.Volumes {
		all[string(name)] = fmt.Sprint(most)
	}
	return all
}

// differences returns the differences between a pool and the same pool now.
func (k *kind) differences(now *kind) (all []string) {
	elastic := k.min < k.max
	switch {
	case now.count >= k.min && now.count <= k.max:
	case elastic:
		all = append(all, fmt.Sprintf("has %s now, not %d to %d", plural(now.count, "node"), k.min, k.max))
	default:
		all = append(all, fmt.Sprintf("has %s now, not %d", plural(now.count, "node"), k.count))
	}
	for _, zone := range sortedKeys(k.zones, now.zones) {
		was, is := k.zones[zone], now.zones[zone]
		if zone != "" && was != is && (!elastic || k.labels[zone] == nil) {
			all = append(all, fmt.Sprintf("zone %s has %s now, not %d", zone, plural(is, "node"), was))
		}
	}
	return append(all, k.properties(now)...)
}

// properties returns the differences between a pool and the same pool now, apart from numbers of
// nodes.
func (k *kind) properties(now *kind) (all []string) {
	for _, zone := range sortedKeys(k.labels, now.labels) {
		if k.labels[zone] == nil || now.labels[zone] == nil {
			continue
		}
		for _, text := range changed(k.labels[zone], now.labels[zone]) {
			if !slices.Contains(all, text) { // the same in another zone
				all = append(all, text)
			}
		}
	}
	if (k.labels[""] == nil) != (now.labels[""] == nil) && k.count*now.count > 0 {
		all = append(all, "label "+corev1.LabelTopologyZone+" differs")
	}
	all = append(all, changed(k.has, now.has)...)
	amounts, others := map[string]string{}, map[string]string{}
	for name, q := range k.allocatable {
		amounts["allocatable "+string(name)] = q.String()
	}
	for name, q := range now.allocatable {
		if was, listed := k.allocatable[name]; listed && !k.exact && nearlyEqual(was, q) {
			q = was
		}
		others["allocatable "+string(name)] = q.String()
	}
	return append(all, changed(amounts, others)...)
}

// sortedKeys returns the keys of two maps.
func sortedKeys[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		return sorting.Keys(b)
	}
	maps.Copy(all, b)
	return sorting.Keys(all)
}

// changed lists the entries of two maps that differ.
func changed(was, now map[string]string) (all []string) {
	for _, name := range sortedKeys(was, now) {
		a, had := was[name]
		b, has := now[name]
		switch {
		case had && has && a == b:
		case !has:
			all = append(all, name+" is gone")
		case !had && b == "":
			all = append(all, name+" is new")
		case !had:
			all = append(all, fmt.Sprintf("%s is new, %q", name, b))
		default:
			all = append(all, fmt.Sprintf("%s is %q now, not %q", name, b, a))
		}
	}
	return all
}
