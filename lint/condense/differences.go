package condense

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
)

// kind is a pool or a single node, as Differences compares them.
type kind struct {
	name            string
	count, min, max int
	// has holds labels, taints and so on, as text by name. The amounts of resources are apart.
	has         map[string]string
	allocatable corev1.ResourceList
}

// Differences says how two condensed topologies differ, pool by pool. The names of pools do not
// matter, nor does the number of nodes if it is within the bounds of the first topology. Amounts of
// resources that would share a pool are equal.
func Differences(was, now *topology.Topology) (all []string) {
	before, after := kinds(was), kinds(now)
	pairs := map[*kind]*kind{}
	match := func(same func(a, b *kind) bool) {
		for _, a := range before {
			for i, b := range after {
				if b != nil && pairs[a] == nil && same(a, b) {
					pairs[a], after[i] = b, nil
				}
			}
		}
	}
	match(func(a, b *kind) bool { return a.name == b.name })
	match(func(a, b *kind) bool { return len(a.differences(b)) == 0 })
	for _, a := range before {
		if b := pairs[a]; b != nil {
			for _, text := range a.differences(b) {
				all = append(all, a.name+": "+text)
			}
		} else if a.min > 0 {
			all = append(all, a.name+": has no nodes now")
		}
	}
	for _, b := range after {
		if b != nil {
			all = append(all, fmt.Sprintf("%s: new, %s", b.name, plural(b.count, "node")))
		}
	}
	for _, key := range changed(set(was.Open()), set(now.Open())) {
		all = append(all, "unknown labels: "+key)
	}
	return all
}

func set(words []string) map[string]string {
	all := map[string]string{}
	for _, word := range words {
		all[word] = "listed"
	}
	return all
}

// kinds returns the pools and single nodes of a topology by name.
func kinds(topo *topology.Topology) (all []*kind) {
	of := map[string][]*topology.Node{}
	pools := map[string]*topology.Pool{}
	for _, n := range topo.All() {
		name := n.Name
		if n.Pool != nil {
			name = "pool " + n.Pool.Name
			pools[name] = n.Pool
		} else {
			name = "node " + name
		}
		of[name] = append(of[name], n)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		k := &kind{name: name, count: 1, min: 1, max: 1, has: map[string]string{}, allocatable: of[name][0].Allocatable}
		if p := pools[name]; p != nil {
			k.count, k.min, k.max = p.Count, p.Min, p.Max
		}
		k.describe(of[name])
		all = append(all, k)
	}
	return all
}

// describe adds what the nodes of a pool have. Their zones have numbers unless the pool is elastic.
func (k *kind) describe(nodes []*topology.Node) {
	zones := map[string]int{}
	values := map[string]map[string]bool{}
	for _, n := range nodes {
		zone := n.Labels[corev1.LabelTopologyZone]
		zones[zone]++
		for key, value := range n.Labels {
			switch {
			case key == topology.Cluster || key == corev1.LabelTopologyZone:
				continue
			case value == n.Name:
				value = "(name of the node)"
			}
			if values[key] == nil {
				values[key] = map[string]bool{}
			}
			values[key][value] = true
		}
	}
	for zone, n := range zones {
		if zone != "" && k.min == k.max {
			k.has["nodes in zone "+zone] = fmt.Sprint(n)
		} else if zone != "" {
			k.has["zone "+zone] = "yes"
		}
	}
	for key, of := range values {
		k.has["label "+key] = strings.Join(slices.Sorted(maps.Keys(of)), ", ")
	}
	first := nodes[0]
	for _, t := range taints(first) {
		k.has["taint "+t.ToString()] = "yes"
	}
	if first.Unschedulable {
		k.has["unschedulable"] = "yes"
	}
	for name, most := range first.Volumes {
		k.has[string(name)] = fmt.Sprint(most)
	}
}

// differences returns the differences between a pool and the same pool now.
func (k *kind) differences(now *kind) (all []string) {
	if now.count < k.min || now.count > k.max {
		want := fmt.Sprint(k.count)
		if k.min < k.max {
			want = fmt.Sprintf("%d to %d", k.min, k.max)
		}
		all = append(all, fmt.Sprintf("has %s now, not %s", plural(now.count, "node"), want))
	}
	all = append(all, changed(k.has, now.has)...)
	amounts, others := map[string]string{}, map[string]string{}
	for name, q := range k.allocatable {
		amounts["allocatable "+string(name)] = q.String()
	}
	for name, q := range now.allocatable {
		was, has := k.allocatable[name]
		x, y := was.AsApproximateFloat64(), q.AsApproximateFloat64()
		if has && near(min(x, y), max(x, y)) {
			q = was
		}
		others["allocatable "+string(name)] = q.String()
	}
	return append(all, changed(amounts, others)...)
}

// changed lists the entries of two maps that differ.
func changed(was, now map[string]string) (all []string) {
	names := maps.Clone(was)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, had := was[name]
		b, has := now[name]
		switch {
		case had && has && a == b:
		case !has:
			all = append(all, fmt.Sprintf("%s is gone", entry(name, a)))
		case !had:
			all = append(all, fmt.Sprintf("%s is new", entry(name, b)))
		default:
			all = append(all, fmt.Sprintf("%s is %q now, not %q", name, b, a))
		}
	}
	return all
}

func entry(name, value string) string {
	if value == "yes" || value == "listed" {
		return name
	}
	return fmt.Sprintf("%s (%q)", name, value)
}
