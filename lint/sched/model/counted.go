package model

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// volumeCounts says which volumes nodes take a limited number of. Pods request them like resources.
type volumeCounts struct {
	// limits holds the drivers whose volumes, over all pods, may exceed the limit of some node.
	// Volumes whose driver is not known count as volumes of each driver.
	limits map[string]bool
	// sets holds the names of sets of PersistentVolumes. doubts says of a set what is not known.
	sets   map[*workload.Static]corev1.ResourceName
	doubts map[*workload.Static]string
}

// countVolumes finds out which volumes have to be counted. It returns the nodes with the number of
// PersistentVolumes that each of them can use.
func countVolumes(run *Run, ws []*workload.Workload, topo *topology.Topology) (*volumeCounts, *topology.Topology) {
	v := &volumeCounts{limits: map[string]bool{}, sets: map[*workload.Static]corev1.ResourceName{}, doubts: map[*workload.Static]string{}}
	if topo.Empty() {
		return v, topo
	}
	run.Spend(len(ws) + len(topo.Nodes)/PerStep)
	v.limit(ws, topo)
	claims := map[*workload.Static]int{}
	for _, w := range ws {
		for _, c := range w.Claims {
			if n := w.Count.N; c.Static != nil && !w.Copy && !w.Superseded {
				if !c.Template || !w.Count.Known {
					n = 1
				}
				claims[c.Static] += n
			}
		}
	}
	if len(claims) == 0 {
		return v, topo
	}
	counted := *topo
	counted.Nodes, counted.Growth = slices.Clone(topo.Nodes), slices.Clone(topo.Growth)
	for i, n := range topo.Nodes {
		counted.Nodes[i] = withVolumes(n)
	}
	for i, g := range topo.Growth {
		counted.Growth[i].Node = withVolumes(g.Node)
	}
	for s, n := range claims {
		run.Spend((len(s.Volumes) + len(topo.Nodes)) / PerStep)
		if !s.Anywhere() {
			v.place(s, counted.Nodes) // the volumes of nodes that a pool adds are unknown
		} else if n > len(s.Volumes) || !s.Listed {
			v.doubts[s] = "which claims get the PersistentVolumes of StorageClass " + s.Class
		}
	}
	return v, &counted
}

func withVolumes(n *topology.Node) *topology.Node {
	own := *n
	own.Volumes = map[corev1.ResourceName]int64{}
	maps.Copy(own.Volumes, n.Volumes)
	return &own
}

// limit finds the drivers whose volumes may exceed the limit of a node (R-N45).
func (v *volumeCounts) limit(ws []*workload.Workload, topo *topology.Topology) {
	least := map[string]int64{}
	for _, n := range topo.All() {
		for name, most := range n.Volumes {
			driver := topology.Driver(name)
			if was, known := least[driver]; !known || most < was {
				least[driver] = most
			}
		}
	}
	if len(least) == 0 {
		return
	}
	sums, named := map[string]int64{}, map[[2]string]bool{} // on a node that all pods are on
	for _, w := range ws {
		if w.Copy || w.Superseded || w.Refused() {
			continue
		}
		pods := int64(math.MaxInt32)
		switch {
		case w.Scale != nil:
			pods = int64(w.Scale.Max)
		case w.Kind.PerNode():
			pods = 1
		case w.Count.Known:
			pods = int64(w.Count.N)
		}
		for _, c := range w.Claims {
			id := [2]string{w.Namespace(), c.Name}
			switch {
			case c.Driver == "" && c.OpenDriver == "" || !c.Template && !c.Ephemeral && named[id]:
			case c.Template:
				sums[c.Driver] += pods
			case c.Ephemeral: // while the workload is updated, it may have twice the pods
				sums[c.Driver] += 2 * pods
			default:
				sums[c.Driver]++
				named[id] = true
			}
		}
		for _, v := range w.InlineDisks {
			sums[v[1]]++
		}
	}
	for driver, most := range least {
		if sums[driver]+sums[""] > most {
			v.limits[driver] = true
		}
	}
}

// place counts the volumes of a set that each node can use (R-N46).
func (v *volumeCounts) place(s *workload.Static, nodes []*topology.Node) {
	v.sets[s] = resourceOf(s)
	at := map[string]map[string][]int{} // volumes by key and value
	for i, p := range s.Places {
		for _, value := range p.Values {
			if at[p.Key] == nil {
				at[p.Key] = map[string][]int{}
			}
			at[p.Key][value] = append(at[p.Key][value], i)
		}
	}
	users := make([]int, len(s.Volumes))
	for _, n := range nodes {
		sum := 0
		for key, byValue := range at {
			labels := storageLabels(n, &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key}}}}})
			value, has := labels[key]
			if !has {
				continue
			}
			for _, i := range slices.Compact(slices.Clone(byValue[value])) {
				sum++
				if users[i]++; users[i] > 1 {
					v.doubts[s] = "which nodes use the PersistentVolumes of StorageClass " + s.Class
				}
			}
		}
		n.Volumes[v.sets[s]] = int64(sum)
	}
	if !s.Listed && slices.Contains(users, 0) { // an example, or for a cluster that has other nodes
		v.doubts[s] = "which PersistentVolumes of StorageClass " + s.Class + " the cluster has"
		for _, n := range nodes {
			delete(n.Volumes, v.sets[s])
		}
		delete(v.sets, s)
	}
}

// resourceOf returns the name of the resource that counts the volumes of a set.
func resourceOf(s *workload.Static) corev1.ResourceName {
	switch {
	case !s.Part:
		return topology.PersistentVolumes(s.Class)
	case len(s.Volumes) == 0:
		return topology.PersistentVolumes(s.Class + " that can be bound")
	}
	return topology.PersistentVolumes(s.Class + " like " + s.Volumes[0].Name)
}

// requests returns the volumes that a pod requests of nodes that take a limited number of them.
func (v *volumeCounts) requests(w *workload.Workload) []Request {
	amounts := map[corev1.ResourceName]int64{}
	if len(v.limits) > 0 {
		attached, shared := w.AttachedVolumes(severalUse(w))
		for driver, n := range attached {
			if v.limits[driver] && shared[driver] == "" { // others may have attached them
				amounts[topology.Attachable(driver)] += int64(n)
			}
		}
	}
	for _, c := range w.Claims {
		if name := v.sets[c.Static]; name != "" {
			amounts[name]++
		}
	}
	var all []Request
	for _, name := range sorting.Keys(amounts) {
		all = append(all, Request{Name: name, Amount: amounts[name], Quantity: *resource.NewQuantity(amounts[name], resource.DecimalSI)})
	}
	sorting.Stable(all, func(a, b Request) int { // in the order of the filters
		return strings.Compare(string(b.Name[:1]), string(a.Name[:1]))
	})
	return all
}

// severalUse reports whether several pods on a node may use a claim of a workload.
func severalUse(w *workload.Workload) bool {
	return w.SharesClaim || !w.Kind.PerNode() && (w.Count.N > 1 || w.Scale != nil && w.Scale.Max > 1)
}

// open says why it is not known how many volumes the pods of a group need on each node, or returns
// "".
func (v *volumeCounts) open(m *Model, g *Group) string {
	if len(v.limits) > 0 {
		attached, shared := g.AttachedVolumes(severalUse(g.Workload))
		for _, driver := range SortedKeys(attached) {
			switch counted := v.limits[driver]; {
			case shared[driver] != "" && (counted || driver == ""):
				return "how many volumes are attached: " + shared[driver]
			case counted && g.Spec.NodeName != "" && !g.Running:
				return "the limit of attached volumes, which the kubelet does not check"
			}
		}
	}
	for _, c := range g.Claims {
		switch {
		case c.Static == nil:
		case v.doubts[c.Static] != "":
			return v.doubts[c.Static]
		case v.sets[c.Static] == "":
		case m.Eligible(g.Workload).Growable > 0:
			return "the PersistentVolumes of nodes that a pool adds"
		default:
			for _, p := range c.Static.Places {
				if key := m.undeclaredKey(&workload.Reach{Affinity: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{p}}}}}); key != "" {
					return "the node label " + key + ", which PersistentVolumes of StorageClass " + c.Static.Class + " name and no node declares"
				}
			}
		}
	}
	return ""
}

// SharedVolumes names volumes that old and new pods of a workload share while they run side by side,
// if nodes count volumes of that kind. It returns "" if there are none.
func (m *Model) SharedVolumes(w *workload.Workload) string {
	attached, shared := w.AttachedVolumes(true)
	for _, driver := range SortedKeys(attached) {
		if m.run.volumes.limits[driver] && shared[driver] != "" {
			return shared[driver]
		}
	}
	for _, c := range w.Claims {
		if !c.Template && m.run.volumes.sets[c.Static] != "" {
			return "claim " + c.Name + ", which several pods use"
		}
	}
	return ""
}

// CountsVolumes reports whether the pods of a group need volumes that count against a limit of nodes.
func (g *Group) CountsVolumes() bool {
	return slices.ContainsFunc(g.Requests, func(r Request) bool { return topology.CountsVolumes(r.Name) })
}

// ClaimsOf returns the claims of a workload that a resource counts.
func ClaimsOf(w *workload.Workload, name corev1.ResourceName) (all []*workload.Claim) {
	for _, c := range w.Claims {
		if c.Driver != "" && topology.Attachable(c.Driver) == name || c.Static != nil && resourceOf(c.Static) == name {
			all = append(all, c)
		}
	}
	return all
}
