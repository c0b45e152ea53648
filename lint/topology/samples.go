package topology

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
)

// choice is a label for which a NodePool names no values. Karpenter chooses one that the pods and the rules
// allow, or the cloud provider does if the label is provided.
type choice struct {
	key      string
	rules    []karpenterRequirement
	provided bool
	class    string // the node class, which says in which zones there are nodes
}

// provided reports whether Karpenter or a cloud provider gives a label its values.
func provided(key string) bool {
	return slices.ContainsFunc(anyValue(), func(entry string) bool {
		return key == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(key, entry)
	})
}

// Asked says what pods ask about a node label: the values that they name, whether it must be missing, whether
// they are spread over its domains, and whether another rule divides nodes by it.
type Asked struct {
	Values                    []string
	Missing, Spreads, Divides bool
}

// Chooses reports whether a NodePool that may add nodes leaves some of their labels open.
func (t *Topology) Chooses() bool {
	return t != nil && slices.ContainsFunc(t.Growth, func(g Growth) bool { return len(g.choices) > 0 })
}

// Sampled returns a topology in which pools that leave labels open may add a node for each value that pods
// name and the pool allows, and for one more value. Karpenter makes such a node for a pod that selects it
// (kubernetes-sigs/karpenter 226646810 pkg/scheduling/requirements.go, Compatible; R-S17). Which zones
// there are is up to the provider. If no node declares its zone, and all pools are of one node class and may add nodes
// without end, two zones stand for any number of them, for pods that are only spread over them (AnyDomain).
func (t *Topology) Sampled(asked map[string]*Asked) *Topology {
	s, chosen, pools, missed := *t, map[string]int{}, map[*Pool]*Pool{}, map[string]bool{}
	s.Growth, s.open, s.anyDomain = nil, maps.Clone(t.open), map[string]bool{}
	for _, g := range t.Growth {
		all := []Growth{g}
		for _, c := range g.choices {
			values := c.values(asked[c.key])
			anyDomain := c.provided && asked[c.key] != nil && asked[c.key].Spreads && t.addsWithoutEnd(c.key)
			if anyDomain {
				values = []string{"1", "2"}
			}
			if len(values) == 0 || len(all)*len(values) > mostSamples {
				missed[c.key] = true
				continue
			}
			s.anyDomain[c.key] = s.anyDomain[c.key] || anyDomain
			var more []Growth
			for _, one := range all {
				for _, v := range values {
					node := *one.Node
					node.Labels = maps.Clone(node.Labels)
					if v != "" {
						node.Name += "-" + v
						node.Labels[c.key], node.Labels[corev1.LabelHostname] = v, node.Name
						node.made = lists.Set(append(slices.Collect(maps.Keys(node.made)), c.key))
					}
					more = append(more, Growth{&node, one.Extra, one.choices})
				}
			}
			if all = more; !c.provided {
				chosen[c.key]++
			}
		}
		if len(all) > 1 { // its nodes differ
			mixed := lazy.Cached(pools, g.Node.Pool, func() *Pool { p := *g.Node.Pool; p.Mixed = true; return &p })
			for _, one := range all {
				one.Node.Pool = mixed
			}
		}
		s.Growth = append(s.Growth, all...)
	}
	maps.DeleteFunc(s.anyDomain, func(key string, _ bool) bool { return missed[key] })
	for key, n := range chosen {
		if n == t.opened[key] {
			delete(s.open, key)
		}
	}
	s.Pools = lists.Of(t.Pools, func(p *Pool) *Pool { return cmp.Or(pools[p], p) })
	return &s
}

// addsWithoutEnd reports whether a label is open on each node, and all nodes are of pools of one node class
// without a maximum that have none yet.
func (t *Topology) addsWithoutEnd(key string) bool {
	classes := map[string]bool{}
	return len(t.Nodes) == 0 && !slices.ContainsFunc(t.Growth, func(g Growth) bool {
		i := slices.IndexFunc(g.choices, func(c choice) bool { return c.key == key })
		if i < 0 || g.Node.Pool.Max != Unbounded {
			return true
		}
		classes[g.choices[i].class] = true
		return len(classes) > 1
	})
}

// AnyDomain reports whether the samples are in two domains of a label that stand for any number of them.
func (t *Topology) AnyDomain(key string) bool { return t != nil && t.anyDomain[key] }

// Lacks reports whether no node that leaves a label open can have one of the values.
func (t *Topology) Lacks(key string, values []string) bool {
	if t == nil || len(values) == 0 || len(t.ruled[key]) == 0 || t.opened[key] != len(t.ruled[key]) || t.openDomain(key) {
		return false
	}
	return !slices.ContainsFunc(t.ruled[key], func(rules []karpenterRequirement) bool {
		return slices.ContainsFunc(values, func(v string) bool { return meets(rules, v) })
	})
}

func meets(rules []karpenterRequirement, v string) bool {
	return !slices.ContainsFunc(rules, func(r karpenterRequirement) bool { return r.excludes(v) })
}

// values returns the values to sample: each that pods name, the numbers next to it, and one more. The value ""
// stands for a node without the label, which only NotIn allows. It returns none if samples cannot show which
// nodes a pod can use.
func (c choice) values(asked *Asked) (all []string) {
	excludes, mixed := false, false // Karpenter takes some mixtures for NotIn, and some for Exists (requirement.go, Operator)
	for _, r := range c.rules {
		not := r.Operator == string(corev1.NodeSelectorOpNotIn)
		excludes, mixed = excludes || not, mixed || !not
	}
	if c.provided || asked == nil || asked.Divides || asked.Spreads || slices.Contains(asked.Values, "") || asked.Missing && excludes && mixed {
		return nil
	}
	most := 0
	for _, v := range slices.Concat(asked.Values, lists.Gather(c.rules, func(r karpenterRequirement) []string { return r.Values })) {
		all = append(all, v)
		if n, err := strconv.Atoi(v); err == nil {
			most = max(most, n)
			all = append(all, strconv.Itoa(max(0, n-1)), strconv.Itoa(n+1))
		}
	}
	all = slices.DeleteFunc(all, func(v string) bool { return !meets(c.rules, v) })
	for n := range len(all) + 2 { // no pod names all of these, or a number above all that it compares with
		if v := strconv.Itoa(n); meets(c.rules, v) && !slices.Contains(all, v) {
			all = append(all, v)
			break
		}
	}
	if v := strconv.Itoa(most + 2); meets(c.rules, v) {
		all = append(all, v)
	}
	if !mixed && excludes {
		all = append(all, "")
	}
	slices.Sort(all)
	return slices.Compact(all)
}
