package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// These tests follow the advice for workloads that do not all fit and for a taint that excludes
// pods. Afterwards, no pods stay Pending, and no rollout or drain gets stuck.

const heavyRule = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {tier: heavy}}}]}}"

// unplaced lists the rules, besides outages, that report pods that stay Pending.
var unplaced = []string{"crowded-out", "no-eligible-node", "order-dependent-placement"}

// crowdCase is two Deployments that avoid each other's nodes, and their nodes.
type crowdCase struct {
	api, queue, nodes int
	soft              [2]bool
	tolerate          bool // by both
	tainted           bool // all nodes
}

func (c crowdCase) lint(t *testing.T) (found, helps []string) {
	t.Helper()
	dir := t.TempDir()
	var manifest strings.Builder
	for i, name := range []string{"api", "queue"} {
		n, pod := []int{c.api, c.queue}[i], ""
		if n == 0 {
			continue
		}
		if !c.soft[i] {
			pod += heavyRule
		}
		if c.tolerate {
			pod += ", tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule}]"
		}
		fmt.Fprintf(&manifest, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s, namespace: shop}\nspec:\n  replicas: %[2]d\n  selector: {matchLabels: {app: %[1]s}}\n  template:\n    metadata: {labels: {app: %[1]s, tier: heavy}}\n    spec: {containers: [{name: main, image: example.com/main}]%[3]s}\n---\n", name, n, pod)
	}
	taints := ""
	if c.tainted {
		taints = ", taints: [{key: dedicated, effect: NoSchedule}]"
	}
	nodes := fmt.Sprintf("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: worker, count: %d%s}\n", c.nodes, taints)
	writeFiles(t, dir, map[string]string{"web.yaml": manifest.String(), "nodes.yaml": nodes})
	report, err := run(t, dir, []string{"nodes.yaml"}, "web.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Diagnostics {
		if slices.Contains(outages, d.Rule) || slices.Contains(unplaced, d.Rule) {
			found = append(found, d.Rule)
		}
		for _, f := range d.Fixes {
			if d.Rule == "crowded-out" || strings.HasPrefix(f.Description, "tolerate") {
				helps = append(helps, f.Description)
			}
		}
	}
	return found, helps
}

// follow changes a case according to advice. It returns false if it does not know the advice.
func (c crowdCase) follow(help string) (crowdCase, bool) {
	var name string
	var n int
	switch {
	case strings.HasPrefix(help, "tolerate the taint"):
		c.tolerate = true
		if _, rest, ok := strings.Cut(help, "and set replicas to "); ok {
			fmt.Sscanf(rest, "%d", &c.api)
		}
		return c, true
	case scan(help, "set replicas of Deployment shop/%s to %d", &name, &n):
		*map[string]*int{"api": &c.api, "queue": &c.queue}[name] = n
		return c, true
	case scan(help, "add %d more node like worker-0", &n), scan(help, "add %d more nodes like worker-0", &n):
		c.nodes += n
		return c, true
	case strings.HasPrefix(help, "make the anti-affinity of Deployment shop/"):
		for i, name := range []string{"api", "queue"} {
			if strings.Contains(help, "shop/"+name+" on") {
				c.soft[i] = true
			}
		}
		return c, true
	}
	return c, false
}

func scan(text, format string, to ...any) bool {
	n, _ := fmt.Sscanf(text, format, to...)
	return n == len(to)
}

// crowdCases returns all small clusters with two workloads, or with one workload and a taint.
func crowdCases() (all []crowdCase) {
	for nodes := 2; nodes <= 6; nodes++ {
		for api := 1; api <= 4; api++ {
			for queue := 1; queue <= 4; queue++ {
				all = append(all, crowdCase{api: api, queue: queue, nodes: nodes})
			}
		}
	}
	for nodes := 1; nodes <= 4; nodes++ {
		for api := 1; api <= 5; api++ {
			all = append(all, crowdCase{api: api, nodes: nodes, tainted: true})
		}
	}
	return all
}

func TestAdviceForSeveralHolds(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	check := func(c crowdCase) {
		_, helps := c.lint(t)
		for _, help := range helps {
			next, ok := c.follow(help)
			if !ok {
				t.Errorf("%+v: nobody can follow %q", c, help)
				continue
			}
			tried[strings.Fields(help)[0]]++
			if found, _ := next.lint(t); len(found) > 0 {
				t.Errorf("%+v: %q leads to %v", c, help, found)
			}
		}
	}
	for _, c := range trials.Sample(t, crowdCases(), 25) {
		check(c)
	}
	for _, verb := range []string{"add", "set", "tolerate"} {
		if tried[verb] < 5 && !trials.Few(t) {
			t.Errorf("only %d pieces of advice to %s were tried", tried[verb], verb)
		}
	}
	t.Log(tried)
}

// TestTaintAdviceForJobs checks that a toleration is the only advice for pods that run to
// completion, because they have no rollout.
func TestTaintAdviceForJobs(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"job.yaml":   "apiVersion: batch/v1\nkind: Job\nmetadata: {name: load}\nspec:\n  template:\n    spec: {restartPolicy: Never, containers: [{name: main, image: example.com/main}]}\n",
		"nodes.yaml": "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: worker, count: 2, taints: [{key: dedicated, effect: NoSchedule}]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report, err := run(t, dir, []string{"nodes.yaml"}, "job.yaml")
	if err != nil || len(report.Diagnostics) != 1 || len(report.Diagnostics[0].Fixes) != 1 {
		t.Fatalf("%v, %+v: want one finding with one repair", err, report.Diagnostics)
	}
	if got, want := report.Diagnostics[0].Fixes[0].Description, "tolerate the taint dedicated:NoSchedule (worker-0, worker-1)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTaintAdviceCountsOthers checks that a toleration is only advised if the pods find room among
// the workloads that tolerate the taint already, few or many.
func TestTaintAdviceCountsOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others, cpu int
		advised     bool
	}{"free": {1, 500, true}, "full": {2, 3500, false}, "many": {41, 150, false}} {
		dir := t.TempDir()
		var all strings.Builder
		add := func(name string, cpu int, pod string) {
			fmt.Fprintf(&all, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s}\nspec:\n  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n  selector: {matchLabels: {app: %[1]s}}\n"+
				"  template:\n    metadata: {labels: {app: %[1]s}}\n    spec: {%[3]scontainers: [{name: c, image: x, resources: {requests: {cpu: %[2]dm}}}]}\n---\n", name, cpu, pod)
		}
		add("web", 1000, "")
		for i := range c.others {
			add(fmt.Sprintf("other-%d", i), c.cpu, "tolerations: [{key: dedicated, operator: Exists}], ")
		}
		writeFiles(t, dir, map[string]string{
			"all.yaml":   all.String(),
			"nodes.yaml": "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, count: 2, allocatable: {cpu: 4, memory: 16Gi, pods: 110}, taints: [{key: dedicated, effect: NoSchedule}]}\n",
		})
		report, err := run(t, dir, []string{"nodes.yaml"}, "all.yaml")
		if err != nil {
			t.Fatal(err)
		}
		advised := false
		for _, d := range report.Diagnostics {
			for _, f := range d.Fixes {
				advised = advised || strings.HasPrefix(f.Description, "tolerate the taint")
			}
		}
		if advised != c.advised {
			t.Errorf("%s: advised %t", name, advised)
		}
	}
}
