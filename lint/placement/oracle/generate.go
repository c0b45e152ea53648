package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// object is a manifest on its way to YAML; shrinking takes it apart.
type object = map[string]any

// list is a list in a manifest.
type list = []any

// Case is one small cluster.
type Case struct {
	Family    string
	Seed      uint64
	Nodes     []object
	Manifests []object
}

// text is the YAML of some objects.
func text(objects []object) string {
	var b strings.Builder
	for _, o := range objects {
		out, err := yaml.Marshal(o)
		if err != nil {
			panic(err)
		}
		b.WriteString("---\n")
		b.Write(out)
	}
	return b.String()
}

// Text is the nodes and the manifests as both sides read them.
func (c *Case) Text() (nodes, manifests string) { return text(c.Nodes), text(c.Manifests) }

// Families are the kinds of cases, each with the odds of what its workloads
// carry.
var Families = []string{"anti-affinity", "affinity", "spread", "nodes", "namespaces", "resources", "kinds", "invalid", "mixed"}

// odds are percentages.
type odds struct {
	anti, affinity, spread, node, namespace, resource int
	running                                           int
	kinds                                             bool
}

var oddsOf = map[string]odds{
	"anti-affinity": {anti: 85, node: 5, running: 15},
	"affinity":      {affinity: 75, anti: 20, node: 5, running: 20},
	"spread":        {spread: 85, anti: 10, node: 15, running: 15},
	"nodes":         {node: 90, anti: 10, spread: 10, running: 10, kinds: true},
	"namespaces":    {anti: 60, affinity: 45, namespace: 80, running: 25},
	"resources":     {resource: 95, anti: 10, node: 10, running: 25, kinds: true},
	"kinds":         {anti: 45, affinity: 15, spread: 30, node: 25, resource: 20, running: 15, kinds: true},
	"invalid":       {anti: 50, affinity: 30, spread: 40, node: 40, namespace: 10, resource: 30, kinds: true},
	"mixed":         {anti: 40, affinity: 25, spread: 30, node: 25, namespace: 15, resource: 25, running: 20, kinds: true},
}

// gen makes one case.
type gen struct {
	*rand.Rand
	odds
	nodes int
	// app is the label of the workload at hand, which selectors like.
	app string
	// perPod is set for a case whose selectors may read what tells pods of one
	// workload apart.
	perPod bool
}

func (g *gen) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *gen, from ...T) T { return from[g.IntN(len(from))] }

// Generate makes the case of a family that belongs to a seed and a number.
func Generate(family string, seed, number uint64) *Case {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, number^uint64(slices.Index(Families, family)+1)<<40)), odds: oddsOf[family]}
	c := &Case{Family: family, Seed: number}
	g.nodes = pick(g, 2, 2, 3, 3, 3, 4, 4, 5, 6)
	for i := range g.nodes {
		c.Nodes = append(c.Nodes, g.node(i))
	}
	if g.namespace > 0 && g.chance(g.namespace) || g.chance(20) {
		c.Manifests = append(c.Manifests, g.namespaces()...)
	}
	g.perPod = g.chance(6)
	// The number of states grows with pods and nodes, so many nodes leave room
	// for few pods.
	pods := map[int]int{2: 9, 3: 7, 4: 6, 5: 5, 6: 4}[g.nodes]
	workloads := pick(g, 1, 2, 2, 2, 3, 3, 4)
	for i := range workloads {
		if pods <= 0 {
			break
		}
		replicas := min(pods, pick(g, 1, 1, 2, 2, 3, 3, 4))
		pods -= replicas
		c.Manifests = append(c.Manifests, g.workload(i, replicas))
	}
	for i := range 2 {
		if g.chance(g.running) {
			c.Manifests = append(c.Manifests, g.runningPod(i))
		}
	}
	if family == "invalid" {
		for range pick(g, 1, 1, 1, 2) {
			g.breakSomething(c)
		}
	}
	return c
}

const (
	zoneKey = "topology.kubernetes.io/zone"
	hostKey = "kubernetes.io/hostname"
)

// node is a random node; now and then it lacks a label, shares its hostname,
// is tainted, cordoned or small.
func (g *gen) node(i int) object {
	labels, name := object{}, fmt.Sprintf("n%d", i)
	if !g.chance(8) {
		labels[hostKey] = name
		if i > 0 && g.chance(5) {
			labels[hostKey] = "n0"
		}
	}
	if !g.chance(12) {
		labels[zoneKey] = pick(g, "a", "b", "a", "b", "c")
	}
	if g.chance(65) {
		labels["rack"] = pick(g, "x", "y", "")
	}
	if g.chance(15) {
		labels["topology.kubernetes.io/region"] = "r"
	}
	spec, status := object{}, object{}
	if g.chance(8 + g.odds.node/3) {
		labels["pool"] = pick(g, "p", "q")
	}
	if g.chance(g.odds.node / 2) {
		labels["size"] = pick(g, "1", "2", "08", "x", "7.5", "0")
	}
	if g.chance(5 + g.odds.node/3) {
		spec["taints"] = g.taints()
	}
	if g.chance(2 + g.odds.node/8) {
		spec["unschedulable"] = true
	}
	if g.chance(5 + g.resource) {
		status[pick(g, "allocatable", "allocatable", "allocatable", "capacity")] = g.allocatable()
	}
	o := object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": labels}}
	if len(spec) > 0 {
		o["spec"] = spec
	}
	if len(status) > 0 {
		o["status"] = status
	}
	return o
}

func (g *gen) taints() list {
	var all list
	seen := map[string]bool{}
	for range pick(g, 1, 1, 2) {
		key := pick(g, "dedicated", "dedicated", "gpu", "node-role.kubernetes.io/control-plane", "node.kubernetes.io/unschedulable",
			"node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/network-unavailable")
		effect := pick(g, "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
		if seen[key+effect] {
			continue
		}
		seen[key+effect] = true
		taint := object{"key": key, "effect": effect}
		if g.chance(60) {
			taint["value"] = pick(g, "db", "7", "x")
		}
		all = append(all, taint)
	}
	return all
}

func (g *gen) allocatable() object {
	o := object{}
	if g.chance(80) {
		o["cpu"] = pick(g, "1", "2", "2", "3", "4", "1500m", "500m", "0")
	}
	if g.chance(60) {
		o["memory"] = pick(g, "1Gi", "2Gi", "4Gi", "512Mi")
	}
	if g.chance(60) {
		o["pods"] = pick(g, "1", "2", "3", "3", "10", "10", "0")
	}
	if g.chance(50) {
		o["example.com/gpu"] = pick(g, "0", "1", "2", "4")
	}
	if g.chance(15) {
		o["ephemeral-storage"] = pick(g, "1Gi", "10Gi")
	}
	if g.chance(15) {
		o["hugepages-2Mi"] = pick(g, "4Mi", "0")
	}
	return o
}

// namespaceNames are where pods live; some may be declared.
var namespaceNames = []string{"d", "e", "f"}

// namespaces declares some of the namespaces.
func (g *gen) namespaces() []object {
	var all []object
	for _, name := range namespaceNames {
		if g.chance(30) {
			continue
		}
		meta := object{"name": name}
		labels := object{}
		if g.chance(60) {
			labels["team"] = pick(g, "x", "y")
		}
		if g.chance(20) {
			labels["env"] = pick(g, "prod", "test")
		}
		if len(labels) > 0 {
			meta["labels"] = labels
		}
		all = append(all, object{"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
	}
	return all
}

func (g *gen) inNamespace() string {
	if g.namespace > 0 && g.chance(g.namespace) {
		return pick(g, namespaceNames...)
	}
	return "d"
}
