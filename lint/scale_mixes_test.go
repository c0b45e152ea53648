package lint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// mix is a kind of large cluster, with functions that generate its nodes and workloads.
type mix struct {
	name     string
	node     func(r *rand.Rand, i int) string
	workload func(r *rand.Rand, i int, c size) string
	// verdict is that of place on rules alone, or empty for any.
	verdict diag.Outcome
}

// size is the size of a cluster.
type size struct{ nodes, workloads int }

// mixes returns the mixes that are tested and measured.
func mixes() []mix {
	return []mix{
		{name: "spread", node: pooledNode, workload: allSpread},
		{name: "stateful", node: pooledNode, workload: allStateful},
		{name: "crowded", node: pooledNode, workload: crowded},
		{name: "taints", node: taintedNode, workload: tolerating},
		{name: "running", node: pooledNode, workload: running},
		{name: "always", node: pooledNode, workload: light, verdict: diag.Always},
		{name: "sometimes", node: pooledNode, workload: rivals, verdict: diag.Sometimes},
		{name: "never", node: pooledNode, workload: misfits, verdict: diag.Never},
		{name: "unknown", node: pooledNode, workload: undeclared, verdict: diag.Unknown},
	}
}

// app is a workload before it becomes YAML; rules are fields of its pod spec, one per line.
type app struct {
	kind, name  string
	replicas    int
	cpu, memory int // millicores and MiB
	rules       []string
}

func (a app) String() string {
	kind, more := a.kind, ""
	switch kind {
	case "":
		kind = "Deployment"
	case "StatefulSet":
		more = "  serviceName: " + a.name + "\n"
	}
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[2]s, namespace: live}
spec:
%[3]s  replicas: %[4]d
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
%[5]s`, kind, a.name, more, a.replicas, a.spec("    "))
}

// spec returns the spec of a pod, indented.
func (a app) spec(indent string) string {
	text := "spec:\n"
	for _, rule := range a.rules {
		text += "  " + rule + "\n"
	}
	text += fmt.Sprintf("  containers: [{name: main, image: \"registry.example.com/%s:1\", resources: {requests: {cpu: %dm, memory: %dMi}}}]\n", a.name, a.cpu, a.memory)
	return indent + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+indent) + "\n"
}

// some returns a workload of about ten pods of a common size.
func some(r *rand.Rand, i int) app {
	replicas := min(max(1, int(math.Exp(2.2+0.9*r.NormFloat64()))), 100)
	return app{name: fmt.Sprintf("app-%05d", i), replicas: replicas, cpu: []int{50, 100, 250, 500}[r.IntN(4)], memory: []int{64, 128, 256, 512}[r.IntN(4)]}
}

const (
	hostnameKey = "kubernetes.io/hostname"
	zonesKey    = "topology.kubernetes.io/zone"
)

func (a app) spreadOver(key string, skew int) string {
	return fmt.Sprintf("topologySpreadConstraints: [{maxSkew: %d, topologyKey: %s, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %s}}}]", skew, key, a.name)
}

func (a app) apart(key string) string {
	return fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: %s}}}]}}", key, a.name)
}

func inPool(pool int) string { return fmt.Sprintf("nodeSelector: {pool: p%d}", pool) }

// allSpread returns a workload that spreads over zones, nodes or both.
func allSpread(r *rand.Rand, i int, _ size) string {
	a := some(r, i)
	switch r.IntN(3) {
	case 0:
		a.rules = append(a.rules, a.spreadOver(zonesKey, 1))
	case 1:
		a.rules = append(a.rules, a.spreadOver(hostnameKey, 1+r.IntN(3)))
	case 2:
		zone, host := a.spreadOver(zonesKey, 1), a.spreadOver(hostnameKey, 1)
		_, more, _ := strings.Cut(host, "[")
		a.rules = append(a.rules, strings.TrimSuffix(zone, "]")+", "+more)
	}
	if r.IntN(4) == 0 {
		a.rules = append(a.rules, inPool(r.IntN(4)))
	}
	return a.String()
}

// allStateful returns a StatefulSet, most of which separate their pods.
func allStateful(r *rand.Rand, i int, _ size) string {
	a := some(r, i)
	a.kind, a.replicas = "StatefulSet", 1+r.IntN(9)
	switch r.IntN(3) {
	case 0:
		a.rules = append(a.rules, a.apart(hostnameKey))
	case 1:
		a.rules = append(a.rules, a.apart(hostnameKey), a.spreadOver(zonesKey, 1))
	}
	return a.String()
}

// crowded returns a workload. A third of them are bound to one pool, which they nearly fill.
func crowded(r *rand.Rand, i int, c size) string {
	a := some(r, i)
	if i%3 == 0 {
		// Pool p2 has about a tenth of the nodes, with 32 cores each.
		a.rules, a.replicas = append(a.rules, inPool(2)), 8
		a.cpu = max(50, 95*c.nodes/10*32_000/100/(c.workloads/3*8)/50*50)
	}
	if r.IntN(3) == 0 {
		a.rules = append(a.rules, a.apart(hostnameKey))
	}
	return a.String()
}

// taintedNode returns a node of one of 40 pools, each with a taint of its own.
func taintedNode(r *rand.Rand, i int) string {
	node, pool := pooledNode(r, i), i%40
	head, status, _ := strings.Cut(node, "status:")
	head, _, _ = strings.Cut(head, "spec:")
	head = strings.Replace(head, "pool: p", "was: p", 1)
	head = strings.Replace(head, "labels: {", fmt.Sprintf("labels: {pool: p%d, ", pool), 1)
	return fmt.Sprintf("%sspec: {taints: [{key: dedicated, value: p%d, effect: NoSchedule}]}\nstatus:%s", head, pool, status)
}

// tolerating returns a workload that tolerates the taint of one pool, or of several.
func tolerating(r *rand.Rand, i int, _ size) string {
	a, all := some(r, i), []string{}
	for range 1 + r.IntN(3) {
		all = append(all, fmt.Sprintf("{key: dedicated, value: p%d, effect: NoSchedule}", r.IntN(40)))
	}
	a.rules = append(a.rules, "tolerations: ["+strings.Join(all, ", ")+"]")
	a.replicas = min(a.replicas, 5)
	if r.IntN(2) == 0 {
		a.rules = append(a.rules, a.apart(hostnameKey))
	}
	return a.String()
}

// running returns a Deployment with running pods that have half of what it requests now.
func running(r *rand.Rand, i int, c size) string {
	a := some(r, i)
	a.replicas = min(a.replicas, 6)
	if r.IntN(2) == 0 {
		a.rules = append(a.rules, a.apart(hostnameKey))
	}
	text, was := a.String(), a
	was.cpu, was.memory = max(25, a.cpu/2), max(32, a.memory/2)
	for k := range a.replicas {
		was.rules = append([]string{fmt.Sprintf("nodeName: n%d", (i*7+k*31)%c.nodes)}, a.rules...)
		text += fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata:
  name: %[1]s-6c9f7d8b5-%[2]d
  namespace: live
  labels: {app: %[1]s, pod-template-hash: 6c9f7d8b5}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %[1]s-6c9f7d8b5, uid: "%[3]d", controller: true}]
%[4]sstatus: {phase: Running}
`, a.name, k, i, was.spec(""))
	}
	return text
}

// light returns a workload that leaves most of the cluster free.
func light(r *rand.Rand, i int, _ size) string {
	a := some(r, i)
	a.replicas, a.cpu, a.memory = min(a.replicas, 6), 50, 64
	if r.IntN(2) == 0 {
		a.rules = append(a.rules, a.apart(hostnameKey))
	}
	return a.String()
}

// rivals returns light workloads, except for two: one is bound to a node and the other avoids
// it. Both are placed unless the other takes that node first.
func rivals(r *rand.Rand, i int, c size) string {
	if i >= 2 {
		return light(r, i, c)
	}
	a := app{name: "free", replicas: 1, cpu: 50, memory: 64}
	bound := app{name: "bound", replicas: 1, cpu: 50, memory: 64, rules: []string{"nodeSelector: {kubernetes.io/hostname: n0}", "tolerations: [{key: dedicated, operator: Exists}]"}}
	if i == 1 {
		return bound.String()
	}
	a.rules = []string{"tolerations: [{key: dedicated, operator: Exists}]", bound.apart(hostnameKey)}
	return a.String()
}

// misfits returns light workloads, except for one with more pods to separate than zones.
func misfits(r *rand.Rand, i int, c size) string {
	if i > 0 {
		return light(r, i, c)
	}
	a := app{name: "misfit", replicas: 4, cpu: 50, memory: 64}
	a.rules = append(a.rules, a.apart(zonesKey))
	return a.String()
}

// undeclared returns light workloads, except for one with pods that may or may not be separated,
// because their label is set at run time.
func undeclared(r *rand.Rand, i int, c size) string {
	if i > 0 {
		return light(r, i, c)
	}
	a := app{name: "undeclared", replicas: 4, cpu: 50, memory: 64}
	rule := a.apart(zonesKey)
	a.rules = append(a.rules, strings.Replace(rule, "matchLabels: {app: undeclared}", "matchLabels: {pod-template-hash: 6c9f7d8b5}", 1))
	return a.String()
}

// write writes a cluster of the mix to a directory.
func (x mix) write(t testing.TB, dir string, c size) {
	t.Helper()
	r := rand.New(rand.NewPCG(17, uint64(c.nodes)))
	if err := os.MkdirAll(filepath.Join(dir, "manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range c.nodes {
		text.WriteString(x.node(r, i))
	}
	linttest.Put(t, filepath.Join(dir, "nodes.yaml"), text.String())
	text.Reset()
	for i := range c.workloads {
		text.WriteString(x.workload(r, i, c))
		if i%100 == 99 || i == c.workloads-1 {
			linttest.Put(t, filepath.Join(dir, "manifests", fmt.Sprintf("%03d.yaml", i/100)), text.String())
			text.Reset()
		}
	}
}

// TestMixesAreDecided checks that at most one answer per hundred workloads exceeds its step
// budget, for rollouts, drains and losses as well as for placing all of them together.
func TestMixesAreDecided(t *testing.T) {
	trials.Large(t)
	t.Parallel()
	c := size{trials.AtLeast(t, 1000, 80), trials.AtLeast(t, 2000, 160)}
	for _, x := range mixes() {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			x.write(t, dir, c)
			report, err := runFor(t, "", []string{hostnameKey, zonesKey}, dir, []string{"nodes.yaml"}, "manifests")
			if err != nil {
				t.Fatal(err)
			}
			given := 0
			for _, open := range report.Summary.Unknown {
				if open.Budget {
					t.Logf("open for want of steps: %d %s %v", open.Count, open.Reason, open.Places)
					given += open.Count
				}
			}
			if most := c.workloads / 100; given > most {
				t.Errorf("%d answers are open for want of steps, of at most %d", given, most)
			}
			doc := linttest.Place(t, lint.Options{Dir: dir, Root: dir, Paths: []string{"manifests"}, Topology: []string{"nodes.yaml"}})
			if x.verdict != "" && doc.RulesVerdict != string(x.verdict) {
				t.Errorf("the verdict is %s, on rules alone %s, want %s", doc.Verdict, doc.RulesVerdict, x.verdict)
			}
		})
	}
}
