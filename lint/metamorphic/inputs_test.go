package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// example is one input of the metamorphic tests: documents that declare nodes, and documents
// with workloads. Every name, namespace and label value in them begins with x-, so that
// renaming finds them.
type example struct {
	name        string
	nodes, docs []string
	// verdict is the expected verdict; "" if it only has to stay the same.
	verdict string
}

const (
	byHost = "kubernetes.io/hostname"
	byZone = "topology.kubernetes.io/zone"
)

// machine returns a Node; more is lines below its spec, or its status.
func machine(name, zone, more string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata:\n  name: %s\n  labels: {%s: %s, %s: %s, disk: %s}\n%s", name, byHost, name, byZone, zone, "x-disk-"+zone[2:], more)
}

// machines returns n Nodes, alternating between the named zones.
func machines(n int, more string, zones ...string) []string {
	var all []string
	for i := range n {
		all = append(all, machine(fmt.Sprintf("x-node%02d", i), zones[i%len(zones)], more))
	}
	return all
}

const (
	tainted = "spec:\n  taints: [{key: dedicated, value: x-team, effect: NoSchedule}]\n"
	fourCPU = "status:\n  allocatable: {cpu: \"4\", memory: 8Gi, pods: \"10\"}\n"
)

// pods returns a workload in the namespace x-shop whose pods have the labels app=name and
// tier=x-tier; spec is lines of a pod spec, "" for what its kind needs.
func pods(kind, name string, replicas int, spec ...string) string {
	labels := fmt.Sprintf("{app: %s, tier: x-tier}", name)
	body := ""
	for _, part := range spec {
		body += "      " + part + "\n"
	}
	count := fmt.Sprintf("  replicas: %d\n", replicas)
	selector := fmt.Sprintf("  selector: {matchLabels: {app: %s}}\n", name)
	version := "apps/v1"
	switch kind {
	case "DaemonSet":
		count = ""
	case "StatefulSet":
		selector += "  serviceName: " + name + "\n"
	case "VirtualMachine":
		version, count, selector = "kubevirt.io/v1", "  runStrategy: Always\n", ""
		body += "      domain: {devices: {}}\n"
	}
	if version == "apps/v1" && !strings.Contains(body, "containers:") {
		body += container("")
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: x-shop}\nspec:\n%s%s  template:\n    metadata: {labels: %s}\n    spec:\n%s", version, kind, name, count, selector, labels, body)
}

func container(more string) string {
	return "      containers: [{name: main, image: example.com/main" + more + "}]\n"
}

func asks(cpu string) string {
	return strings.TrimSpace(container(", resources: {requests: {cpu: \"" + cpu + "\"}}"))
}

func listens(port int) string {
	return strings.TrimSpace(container(fmt.Sprintf(", ports: [{containerPort: %d, hostPort: %d}]", port, port)))
}

func hard(use string, terms ...string) string {
	return use + ": {requiredDuringSchedulingIgnoredDuringExecution: [" + strings.Join(terms, ", ") + "]}"
}

func affinity(parts ...string) string { return "affinity: {" + strings.Join(parts, ", ") + "}" }

func away(terms ...string) string { return hard("podAntiAffinity", terms...) }
func near(terms ...string) string { return hard("podAffinity", terms...) }

// from returns a term on a key that selects pods with a label.
func from(key, label, value string) string {
	return fmt.Sprintf("{topologyKey: %s, labelSelector: {matchLabels: {%s: %s}}}", key, label, value)
}

func even(key, label, value string) string {
	return fmt.Sprintf("topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: %s, labelSelector: {matchLabels: {%s: %s}}}]", key, label, value)
}

const tolerant = "tolerations: [{key: dedicated, operator: Exists}]"

// examples returns handwritten inputs that are small enough for an exact decision.
func examples() []example {
	zones := []string{"x-a", "x-b", "x-c"}
	return []example{
		{"a mix of kinds that always fits", append(machines(6, "", zones...), machine("x-spare", "x-a", tainted)), []string{
			pods("Deployment", "x-web", 3, affinity(away(from(byHost, "app", "x-web")))),
			pods("StatefulSet", "x-db", 3, even(byZone, "app", "x-db")),
			pods("DaemonSet", "x-agent", 0, tolerant, listens(9100)),
			pods("Deployment", "x-cache", 2, affinity(near(from(byZone, "app", "x-web")))),
			pods("VirtualMachine", "x-box", 1, "nodeSelector: {disk: x-disk-b}"),
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: x-shop, labels: {team: x-team}}\n",
		}, "always"},
		{"a shy pod and a pinned one", machines(3, "", zones...), []string{
			pods("Deployment", "x-shy", 2, affinity(away(from(byHost, "app", "x-pinned"), from(byHost, "app", "x-shy")))),
			pods("Deployment", "x-pinned", 2, "nodeSelector: {kubernetes.io/hostname: x-node00}"),
			pods("StatefulSet", "x-alone", 2, affinity(away(from(byZone, "app", "x-alone")))),
		}, "sometimes"},
		{"four that exclude one another on three nodes", append(machines(3, "", zones...), machine("x-spare", "x-a", tainted)), []string{
			pods("Deployment", "x-web", 2, affinity(away(from(byHost, "tier", "x-tier")))),
			pods("StatefulSet", "x-db", 2, affinity(away(from(byHost, "tier", "x-tier")))),
		}, "never"},
		{"host ports and a taint", append(machines(3, "", zones...), machine("x-spare", "x-a", tainted)), []string{
			pods("Deployment", "x-web", 3, listens(80)),
			pods("Deployment", "x-proxy", 2, tolerant, listens(80)),
			pods("DaemonSet", "x-agent", 0, listens(9100)),
		}, "never"},
		{"resources that pack only one way", machines(2, fourCPU, zones...), []string{
			pods("Deployment", "x-big", 2, asks("3")),
			pods("Deployment", "x-small", 2, asks("1")),
		}, "sometimes"},
		{"a spread that counts others", machines(4, "", zones...), []string{
			pods("Deployment", "x-web", 3, even(byZone, "tier", "x-tier")),
			pods("Deployment", "x-db", 2, even(byHost, "tier", "x-tier")),
			pods("StatefulSet", "x-cache", 1, affinity(near(from(byHost, "app", "x-db")), away(from(byHost, "app", "x-web")))),
		}, ""},
		{"two reasons for one never", machines(4, "", "x-a", "x-b"), twoReasons(), "never"},
	}
}

// crowds returns inputs with too many pods for a search.
func crowds() []example {
	zones := []string{"x-a", "x-b", "x-c"}
	roomy, small := machine("x-node00", "x-a", ""), machine("x-node01", "x-a", fourCPU)
	excluding := []string{pods("Deployment", "x-jobs", 90)}
	for i := range 5 {
		one := pods("StatefulSet", fmt.Sprintf("x-one%d", i), 1, affinity(away(from(byHost, "tier", "x-tier"))))
		excluding = append(excluding, strings.ReplaceAll(one, "x-tier", "x-single"))
	}
	return []example{
		{"workloads that clash, too many to search", machines(12, fourCPU, zones...), []string{
			pods("Deployment", "x-web", 11, affinity(away(from(byHost, "app", "x-web"))), asks("1")),
			pods("Deployment", "x-db", 9, affinity(away(from(byHost, "app", "x-db"), from(byZone, "app", "x-ghost"))), asks("1")),
			pods("StatefulSet", "x-cache", 12, even(byZone, "tier", "x-tier"), asks("1")),
			pods("Deployment", "x-jobs", 9, affinity(near(from(byHost, "app", "x-web")))),
			pods("DaemonSet", "x-agent", 0, listens(9100)),
		}, ""},
		{"more pods than room, too many to search", machines(12, fourCPU, zones...), []string{
			pods("Deployment", "x-web", 30, asks("1")),
			pods("Deployment", "x-db", 9, affinity(away(from(byHost, "app", "x-db"))), asks("2")),
			pods("StatefulSet", "x-cache", 14, affinity(away(from(byHost, "app", "x-cache")))),
		}, "never"},
		{"a crowd, and zones for one of four", []string{roomy, small}, []string{
			pods("Deployment", "x-jobs", 90),
			pods("StatefulSet", "x-db", 4, affinity(away(from(byZone, "app", "x-db"))), even(byZone, "app", "x-db")),
		}, "never"},
		{"a crowd, and five that exclude one another", []string{roomy, small}, excluding, "never"},
	}
}

// twoReasons returns workloads in which x-last wants to be on the same node as x-first. Two
// companions of x-first exclude x-last, and either of them explains why that is impossible.
func twoReasons() []string {
	return []string{
		pods("Deployment", "x-guard", 1, affinity(away(from(byZone, "app", "x-last")))),
		pods("Deployment", "x-other", 1, affinity(near(from(byZone, "app", "x-guard")), away(from(byZone, "app", "x-last")))),
		pods("Deployment", "x-first", 1, affinity(near(from(byZone, "app", "x-other")))),
		pods("Deployment", "x-last", 1, affinity(near(from(byHost, "app", "x-first")))),
	}
}

// bounded returns clusters just too large for a search before proofs are tried. In such clusters,
// the results of proofs and greedy runs depend on their starting point.
func bounded() []example {
	roomy, small := machine("x-node00", "x-a", ""), machine("x-node01", "x-a", fourCPU)
	apart := away(from(byZone, "app", "x-db"))
	return []example{
		{"one crowds the other out on small nodes", []string{machine("x-node00", "x-b", ""), machine("x-node02", "x-b", ""), machine("x-node03", "x-a", fourCPU), machine("x-node04", "x-a", fourCPU)}, []string{
			pods("Deployment", "x-cache", 12),
			pods("Deployment", "x-db", 24, affinity(away(from("rack", "app", "x-db")), near(from(byZone, "app", "x-db")))),
		}, ""},
		{"zones for one of many, beside another", []string{roomy, small}, []string{
			pods("StatefulSet", "x-jobs", 12),
			pods("StatefulSet", "x-db", 29, affinity(apart), even(byZone, "app", "x-db")),
		}, "never"},
		{"one of many, which wants company", []string{roomy}, []string{
			pods("Deployment", "x-jobs", 2),
			pods("StatefulSet", "x-db", 39, affinity(apart, near(from(byZone, "tier", "x-tier")))),
		}, "never"},
		{"a set that excludes one another, and no node", []string{roomy}, []string{
			pods("Deployment", "x-db", 1, affinity(away(from(byHost, "tier", "x-tier"))), even(byHost, "app", "x-db"), "nodeSelector: {disk: x-disk-q}"),
			pods("Deployment", "x-jobs", 9),
			pods("Deployment", "x-web", 31, even(byHost, "app", "x-web"), "nodeSelector: {disk: x-disk-q}"),
		}, "never"},
		{"a small node that others may fill", []string{roomy, small}, []string{
			pods("StatefulSet", "x-db", 2, affinity(away(from(byHost, "app", "x-db")))),
			pods("StatefulSet", "x-jobs", 39),
		}, "sometimes"},
		{"two spreads and a small node", []string{roomy, small}, []string{
			pods("Deployment", "x-jobs", 29, even(byZone, "app", "x-jobs")),
			pods("Deployment", "x-web", 12, even(byHost, "app", "x-web")),
		}, "sometimes"},
	}
}

// dice makes random examples.
type dice struct{ *rand.Rand }

func (d dice) pick(list ...string) string { return list[d.IntN(len(list))] }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// term returns a random term of a workload, usually about its own pods.
func (d dice) term(own string) string {
	key := d.pick(byHost, byHost, byZone, byZone, "rack")
	switch d.IntN(4) {
	case 0:
		return from(key, "tier", "x-tier")
	case 1:
		return from(key, "app", d.pick("x-web", "x-db", "x-cache", "x-jobs"))
	}
	return from(key, "app", own)
}

// spec returns the rules of a workload.
func (d dice) spec(own string) []string {
	var parts, spec []string
	if d.chance(60) {
		parts = append(parts, away(d.term(own)))
	}
	if d.chance(25) {
		parts = append(parts, near(d.term(own)))
	}
	if len(parts) > 0 {
		spec = append(spec, affinity(parts...))
	}
	if d.chance(30) {
		spec = append(spec, even(d.pick(byHost, byZone), "app", own))
	}
	if d.chance(30) {
		spec = append(spec, tolerant)
	}
	if d.chance(15) {
		spec = append(spec, "nodeSelector: {disk: "+d.pick("x-disk-a", "x-disk-b", "x-disk-q")+"}")
	}
	switch d.IntN(4) {
	case 0:
		spec = append(spec, asks(d.pick("1", "2", "3")))
	case 1:
		spec = append(spec, listens(80))
	}
	return spec
}

// example returns a cluster of few nodes, with one to three pods per workload or, occasionally,
// too many for a search.
func (d dice) example(seed int) example {
	e := example{name: fmt.Sprintf("random %d", seed)}
	for i := range 2 + d.IntN(4) {
		e.nodes = append(e.nodes, machine(fmt.Sprintf("x-node%02d", i), d.pick("x-a", "x-b", "x-c"), d.pick("", tainted, fourCPU, fourCPU)))
	}
	most := 3
	if d.chance(15) {
		most = 40
	}
	names := []string{"x-web", "x-db", "x-cache", "x-jobs"}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:2+d.IntN(3)] {
		kind := d.pick("Deployment", "Deployment", "Deployment", "StatefulSet", "DaemonSet")
		e.docs = append(e.docs, pods(kind, name, 1+d.IntN(most), d.spec(name)...))
	}
	return e
}
