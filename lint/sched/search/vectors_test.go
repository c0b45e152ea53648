package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

const (
	zoneKey = "topology.kubernetes.io/zone"
	hostKey = "kubernetes.io/hostname"
)

// modelOf builds a Model from manifests and nodes in YAML. An extended resource that a node does
// not list is 0, as it is for the scheduler's filters.
func modelOf(t testing.TB, nodes, manifests string) (*model.Model, *workload.Set) {
	t.Helper()
	m, set := models.Of(t, nodes, manifests)
	m.Topology.Extended.Complete = true
	return m, set
}

// node returns a v1 Node: its name, labels as label=value,... and taints as
// key=value:Effect.
func node(name, labels string, taints ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: %s\n  labels: {%s}\n", name, pairs(labels))
	if len(taints) > 0 {
		b.WriteString("spec:\n  taints:\n")
	}
	for _, taint := range taints {
		i := strings.LastIndexByte(taint, ':')
		key, value, _ := strings.Cut(taint[:i], "=")
		fmt.Fprintf(&b, "  - {key: %s, value: %q, effect: %s}\n", key, value, taint[i+1:])
	}
	return b.String()
}

// pairs turns a=b,c=d into YAML with quoted values.
func pairs(s string) string {
	var parts []string
	for _, p := range strings.Split(s, ",") {
		if k, v, ok := strings.Cut(p, "="); ok {
			parts = append(parts, fmt.Sprintf("%s: %q", strings.TrimSpace(k), v))
		}
	}
	return strings.Join(parts, ", ")
}

// pod returns a Pod. If on is not empty, the pod runs on that node.
func pod(name, namespace, labels, on, spec string) string {
	if spec == "" {
		spec = "{}"
	}
	text := fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: %s\n  labels: {%s}\n", name, namespace, pairs(labels))
	if strings.HasSuffix(on, "!") {
		on = strings.TrimSuffix(on, "!")
		text += "  deletionTimestamp: \"2026-01-01T00:00:00Z\"\n"
	}
	text += "spec:\n"
	if on != "" {
		text += "  nodeName: " + on + "\n"
	}
	if !strings.Contains(spec, "containers:") {
		text += "  containers: [{name: c, image: c}]\n"
	}
	for line := range strings.Lines(strings.TrimSpace(spec)) {
		if line != "{}" {
			text += "  " + strings.TrimRight(line, "\n") + "\n"
		}
	}
	if on != "" {
		text += "status: {phase: Running}\n"
	}
	return text
}

func terms(kind, list string) string {
	return "affinity: {" + kind + ": {requiredDuringSchedulingIgnoredDuringExecution: [" + list + "]}}"
}

func term(key, selector string) string { return "{topologyKey: " + key + selector + "}" }

func sel(labels string) string { return ", labelSelector: {matchLabels: {" + pairs(labels) + "}}" }

const selNull, selAll = "", ", labelSelector: {}"

func anti(list ...string) string { return terms("podAntiAffinity", strings.Join(list, ", ")) }
func aff(list ...string) string  { return terms("podAffinity", strings.Join(list, ", ")) }

// tsc returns one hard spread constraint with maxSkew 1. more is inserted verbatim.
func tsc(key, selector, more string) string {
	return "{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: " + key + selector + more + "}"
}

func spread(list ...string) string {
	return "topologySpreadConstraints: [" + strings.Join(list, ", ") + "]"
}

func nodeTerms(list string) string {
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + list + "]}}}"
}

func tolerate(list string) string { return "tolerations: [" + list + "]" }

func hostPort(port string) string {
	return "containers: [{name: c, image: c, ports: [{containerPort: 80, hostPort: 80" + port + "}]}]"
}

var (
	n3  = node("a", zoneKey+"=a,"+hostKey+"=a") + node("b", zoneKey+"=b,"+hostKey+"=b") + node("c", "")
	n11 = node("n1", "zone=1,rack=x") + node("n2", "zone=2,rack=y") + node("n3", "zone=1,rack=y")
	n32 = node("a", zoneKey+"=a") + node("b", zoneKey+"=b", "k:NoSchedule")
	n34 = node("a", zoneKey+"=a,pool=x") + node("b", zoneKey+"=b,pool=y")
	n36 = node("a", zoneKey+"=a,rack=1") + node("b", zoneKey+"=b,rack=2") + node("c", zoneKey+"=c")
	n42 = node("a", "cpu=08,pool=x") + node("b", "cpu=x") + node("c", "cpu=+9")
	n50 = node("a", "", "k=v:NoSchedule") + node("b", "", "k=v:PreferNoSchedule") + node("c", "", "k=7:NoExecute")
	na  = node("a", "")
)

// TestFilterVectors is the table of executed filter vectors. Each lists the nodes that refuse one
// more pod in namespace d labeled app=web while the existing pods are in place (R-A1 to R-A17, R-T1
// to R-T7, R-T9, R-N6 to R-N9, R-N13 to R-N16, R-N19, R-N20). Existing pods are written as
// labels@node, with a namespace in front if it is not d, and ! for a pod that is being deleted.
func TestFilterVectors(t *testing.T) {
	web := sel("app=web")
	for _, v := range []struct {
		id, nodes, existing, self, rejected string
		labels                              string // of self; app=web if empty
		carried                             string // the spec of the existing pods
	}{
		{id: "1", nodes: n3, existing: "app=web@c", self: anti(term(zoneKey, web))},
		{id: "2", nodes: n3, self: aff(term("topology.kubernetes.io/hostname", web)), rejected: "a b c"},
		{id: "3", nodes: n3, existing: "app=web@a app=web@b", self: anti(term("topology.kubernetes.io/hostname", web))},
		{id: "4", nodes: n3, existing: "app=db@a app=cache@a", self: aff(term(zoneKey, sel("app=db")), term(zoneKey, sel("app=cache"))), rejected: "a b c"},
		{id: "5", nodes: n3, self: aff(term(zoneKey, web)), rejected: "c"},
		{id: "6", nodes: n3, existing: "app=web@c", self: aff(term(zoneKey, web)), rejected: "c"},
		{id: "7", nodes: n3, existing: "app=web@c", self: aff(term(hostKey, web)), rejected: "c"},
		{id: "8", nodes: n3, self: aff(term(zoneKey, web), term(hostKey, sel("app=db"))), rejected: "a b c"},
		{id: "9", nodes: node("a", zoneKey+"=1,"+hostKey+"=a") + node("b", zoneKey+"=1,"+hostKey+"=b"), existing: "app=web@a", self: aff(term(zoneKey, web), term(hostKey, web)), rejected: "b"},
		{id: "10", nodes: n3, self: aff(term(zoneKey, web+", namespaces: [other]")), rejected: "a b c"},
		{id: "11", nodes: n11, existing: "app=db@n1 app=db@n2", self: aff(term("zone", sel("app=db")), term("rack", sel("app=db")))},
		{id: "12", nodes: n3, self: aff(term(zoneKey, selNull)), rejected: "a b c"},
		{id: "13", nodes: n3, self: aff(term(zoneKey, selAll)), rejected: "c"},
		{id: "14", nodes: n3, existing: "x=y@b", self: aff(term(zoneKey, selAll)), rejected: "a c"},
		{id: "15", nodes: n3, existing: "app=db@a", carried: anti(term(zoneKey, web)), rejected: "a"},
		{id: "16", nodes: n11, existing: "o/app=db@n1", carried: anti(term("zone", web+", namespaceSelector: {}")), rejected: "n1 n3"},
		{id: "17", nodes: node("n1", "") + node("n2", "zone=1"), existing: "app=db@n1", carried: anti(term("zone", web))},
		{id: "18", nodes: n11, existing: "app=db@n1", carried: aff(term("zone", web))},
		{id: "19", nodes: n3, existing: "app=web@a", self: anti(term(zoneKey, selNull))},
		{id: "20", nodes: n3, existing: "x=y@a", self: anti(term(zoneKey, selAll)), rejected: "a"},
		{id: "21", nodes: n3, existing: "o/app=web@a", self: anti(term(zoneKey, web))},
		{id: "22", nodes: n3, existing: "o/app=web@a", self: anti(term(zoneKey, web+", namespaceSelector: {}")), rejected: "a"},
		{id: "23", nodes: n3, existing: "app=web@a", self: anti(term(zoneKey, web+", namespaceSelector: {matchLabels: {team: x}}"))},
		{id: "24", nodes: n3, existing: "app=web@a!", self: anti(term(zoneKey, web)), rejected: "a"},
		{id: "25", nodes: node("a", hostKey+"=same") + node("b", hostKey+"=same"), existing: "app=web@a", self: anti(term(hostKey, web)), rejected: "a b"},
		{id: "26", nodes: n3, existing: "app=web@a app=web@a", self: spread(tsc(zoneKey, web, "")), rejected: "a c"},
		{id: "27", nodes: n3, existing: "app=web@a app=web@a", self: spread(tsc(zoneKey, selNull, "")), rejected: "c"},
		{id: "28", nodes: n3, existing: "app=web@a app=web@a", self: spread(tsc(zoneKey, selAll, "")), rejected: "c"},
		{id: "28 with minDomains", nodes: n3, existing: "app=web@a app=web@a", self: spread(tsc(zoneKey, selAll, ", minDomains: 5")), rejected: "c"},
		{id: "29", nodes: n3, existing: "app=db@a", self: spread(tsc(zoneKey, sel("app=db"), "")), rejected: "c"},
		{id: "30", nodes: n3, existing: "app=db@a app=db@a", self: spread(tsc(zoneKey, sel("app=db"), "")), rejected: "a c"},
		{id: "31", nodes: n3, existing: "app=web@a app=web@b", self: spread(tsc(zoneKey, web, ", minDomains: 3")), rejected: "a b c"},
		{id: "32", nodes: n32, existing: "app=web@a", self: spread(tsc(zoneKey, web, "")), rejected: "a b"},
		{id: "33", nodes: n32, existing: "app=web@a", self: spread(tsc(zoneKey, web, ", nodeTaintsPolicy: Honor")), rejected: "b"},
		{id: "34", nodes: n34, existing: "app=web@a", self: spread(tsc(zoneKey, web, "")) + "\nnodeSelector: {pool: x}", rejected: "b"},
		{id: "35", nodes: n34, existing: "app=web@a", self: spread(tsc(zoneKey, web, ", nodeAffinityPolicy: Ignore")) + "\nnodeSelector: {pool: x}", rejected: "a b"},
		{id: "36", nodes: n36, existing: "app=web@a app=web@b", self: spread(tsc(zoneKey, web, ""), tsc("rack", web, "")), rejected: "c"},
		{id: "37", nodes: n36, existing: "app=web@a app=web@b", self: spread(tsc(zoneKey, web, ""), strings.Replace(tsc("rack", web, ""), "DoNotSchedule", "ScheduleAnyway", 1)), rejected: "a b"},
		{id: "38", nodes: n3, existing: "app=web@a! app=web@b", self: spread(tsc(zoneKey, web, "")), rejected: "b c"},
		{id: "39", nodes: n3, existing: "app=web,v=1@a app=web,v=1@a", labels: "app=web,v=2", self: spread(tsc(zoneKey, web, ", matchLabelKeys: [v]")), rejected: "c"},
		{id: "40", nodes: node("n1", "zone=") + node("n2", "zone=1"), existing: "app=web@n2", self: spread(tsc("zone", web, "")), rejected: "n2"},
		{id: "41", nodes: n11, existing: "o/app=web@n1 o/app=web@n1", self: spread(tsc("zone", web, ""))},
		{id: "42", nodes: n42, self: nodeTerms("{}"), rejected: "a b c"},
		{id: "43", nodes: n42, self: nodeTerms("{}, {matchExpressions: [{key: pool, operator: In, values: [x]}]}"), rejected: "b c"},
		{id: "44", nodes: n42, self: nodeTerms(`{matchExpressions: [{key: cpu, operator: Gt, values: ["7"]}]}`), rejected: "b"},
		{id: "45", nodes: n42, self: nodeTerms("{matchExpressions: [{key: cpu, operator: Gt, values: [abc]}]}, {matchExpressions: [{key: pool, operator: In, values: [x]}]}"), rejected: "b c"},
		{id: "46", nodes: n42, self: nodeTerms("{matchExpressions: [{key: cpu, operator: Gt, values: [abc]}]}"), rejected: "a b c"},
		{id: "47", nodes: n42, self: nodeTerms("{matchExpressions: [{key: pool, operator: NotIn, values: [x]}]}"), rejected: "a"},
		{id: "48", nodes: n42, self: nodeTerms("{matchFields: [{key: metadata.name, operator: In, values: [a]}, {key: metadata.name, operator: In, values: [b]}]}"), rejected: "a b c"},
		{id: "49", nodes: n42, self: nodeTerms("{matchFields: [{key: metadata.name, operator: NotIn, values: [a]}]}"), rejected: "a"},
		{id: "50", nodes: n50, rejected: "a c"},
		{id: "51", nodes: n50, self: tolerate("{key: k, operator: Exists}")},
		{id: "51 any key", nodes: n50, self: tolerate("{operator: Exists}")},
		{id: "52", nodes: n50, self: tolerate("{key: k}"), rejected: "a c"},
		{id: "53", nodes: n50, self: tolerate(`{key: k, operator: Equal, value: "7", effect: NoExecute, tolerationSeconds: 0}`), rejected: "a"},
		{id: "54", nodes: n50, self: tolerate(`{key: k, operator: Gt, value: "5"}`), rejected: "a c"},
		{id: "55", nodes: na, existing: "app=x@a", carried: hostPort(""), self: hostPort(", hostIP: 127.0.0.1"), rejected: "a"},
		{id: "56", nodes: na, existing: "app=x@a", carried: hostPort(", hostIP: 127.0.0.1"), self: hostPort(", hostIP: 127.0.0.2")},
		{id: "57", nodes: na, existing: "app=x@a", carried: hostPort(""), self: hostPort(", protocol: UDP")},
		{id: "58", nodes: na, existing: "app=x@a", carried: hostPort(`, hostIP: "::"`), self: hostPort(", hostIP: 0.0.0.0"), rejected: "a"},
		{id: "58 specific", nodes: na, existing: "app=x@a", carried: hostPort(`, hostIP: "::"`), self: hostPort(", hostIP: 127.0.0.1")},
		{id: "59", nodes: node("n1", ""), existing: "app=x@n1", carried: "containers: [{name: c, image: c}]\ninitContainers: [{name: i, image: i, ports: [{containerPort: 80, hostPort: 80}]}]", self: hostPort("")},
	} {
		t.Run(v.id, func(t *testing.T) {
			manifests := ""
			for i, e := range strings.Fields(v.existing) {
				labels, on, _ := strings.Cut(e, "@")
				ns, rest, other := strings.Cut(labels, "/")
				if !other {
					ns, rest = "d", labels
				}
				manifests += pod(fmt.Sprint("existing-", i), ns, rest, on, v.carried)
			}
			labels := v.labels
			if labels == "" {
				labels = "app=web"
			}
			m, set := modelOf(t, v.nodes, manifests+pod("self", "d", labels, "", v.self))
			self := set.Workloads[len(set.Workloads)-1]
			state := check.NewState(m)
			var rejected []string
			for _, n := range m.Topology.Nodes {
				if state.Filter(self, n) != certificate.Takes {
					rejected = append(rejected, n.Name)
				}
			}
			if got := strings.Join(rejected, " "); got != v.rejected {
				t.Errorf("rejected %q, want %q", got, v.rejected)
			}
		})
	}
}

// deployment returns a Deployment with the given spec for pods labeled app=web in namespace d.
func deployment(replicas int, spec string) string {
	text := fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: d}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n", replicas)
	if !strings.Contains(spec, "containers:") {
		text += "      containers: [{name: c, image: c}]\n"
	}
	for line := range strings.Lines(spec) {
		text += "      " + strings.TrimRight(line, "\n") + "\n"
	}
	return text
}

// TestSequentialVectors places equal pods one after another, starting with each of the nodes in
// turn, and compares the number that fits with the table and with the closed forms (R-M1 to R-M3,
// R-T9, R-T10). A case requests only six pods if a seventh would fail for another reason.
func TestSequentialVectors(t *testing.T) {
	const many = 12
	web := sel("app=web")
	tainted := node("cp", hostKey+"=cp", "cp:NoSchedule") + node("w1", hostKey+"=w1") + node("w2", hostKey+"=w2") + node("w3", hostKey+"=w3")
	zones := ""
	for i, z := range "aaabbbc" {
		zones += node(fmt.Sprintf("n%d", i), fmt.Sprintf("%s=%c,%s=n%d", zoneKey, z, hostKey, i))
	}
	for _, v := range []struct {
		id, nodes, spec string
		asked, placed   int
	}{
		{"60", tainted, spread(tsc(hostKey, web, "")), many, 3},
		{"60 Honor", tainted, spread(tsc(hostKey, web, ", nodeTaintsPolicy: Honor")), many, many},
		{"61", zones, spread(tsc(zoneKey, web, "")) + "\n" + anti(term(hostKey, web)), 6, 5},
		{"62", n3, anti(term(zoneKey, web)), many, many},
		{"63", node("a", zoneKey+"=a") + node("b", zoneKey+"=b"), strings.Replace(spread(tsc(zoneKey, web, ", minDomains: 3")), "maxSkew: 1", "maxSkew: 2", 1), many, 4},
	} {
		t.Run(v.id, func(t *testing.T) {
			m, set := modelOf(t, v.nodes, deployment(v.asked, v.spec))
			w := set.Workloads[0]
			for shift := range m.Topology.Nodes {
				nodes := slices.Concat(m.Topology.Nodes[shift:], m.Topology.Nodes[:shift])
				if got := placeAll(m, w, nodes, v.asked); got != v.placed {
					t.Errorf("placed %d from node %d on, want %d", got, shift, v.placed)
				}
			}
			most := v.asked
			for _, l := range bound.Capacity(m, w) {
				most = min(most, l.Most)
			}
			if most != v.placed {
				t.Errorf("the bound is %d, want %d", most, v.placed)
			}
		})
	}
}

// placeAll places pods, each on the first node that takes it, until no node does.
func placeAll(m *model.Model, w *workload.Workload, nodes []*topology.Node, asked int) int {
	state := check.NewState(m)
	for placed := range asked {
		i := slices.IndexFunc(nodes, func(n *topology.Node) bool { return state.Filter(w, n) == certificate.Takes })
		if i < 0 {
			return placed
		}
		state.Place(w, nodes[i])
	}
	return asked
}
