package lint_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// changed holds the results of linting and placing one input that are about changes.
type changed struct {
	rules []string
	doc   *diag.Placement
}

func (c *changed) of(name string) diag.PlacementChange {
	for _, w := range c.doc.Workloads {
		if w.Name == name {
			return w.Change
		}
	}
	return diag.PlacementChange{}
}

func changes(t *testing.T, topology, manifest string) *changed {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"nodes.yaml": topology, "manifest.yaml": manifest})
	report, err := run(t, dir, []string{"nodes.yaml"}, "manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := &changed{}
	for _, d := range report.Diagnostics {
		c.rules = append(c.rules, d.Rule)
	}
	slices.Sort(c.rules)
	c.rules = slices.Compact(c.rules)
	c.doc = linttest.Place(t, lint.Options{Dir: dir, Root: dir, Paths: []string{"manifest.yaml"}, Topology: []string{"nodes.yaml"}})
	return c
}

// apartOn returns an anti-affinity term that separates pods of app=web.
func apartOn(key, more string) string {
	return fmt.Sprintf("{topologyKey: %s, labelSelector: {matchLabels: {app: web}}%s}", key, more)
}

const (
	hostKey = "kubernetes.io/hostname"
	zoneKey = "topology.kubernetes.io/zone"
)

// object returns a workload with pods that have the label app=web. The argument top is inserted
// into its spec and pod into the spec of its pod template.
func object(apiVersion, kind, top, pod string) string {
	if !strings.Contains(kind, "VirtualMachine") {
		pod = strings.TrimPrefix(pod+", containers: [{name: c, image: example.com/c}]", ", ")
	} else {
		pod = strings.TrimPrefix(pod+", domain: {devices: {}}", ", ")
	}
	if top != "" {
		top += ", "
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: web, namespace: shop}\nspec: {%sselector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {%s}}}\n", apiVersion, kind, top, pod)
}

func anti(terms ...string) string {
	return "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + strings.Join(terms, ", ") + "]}}"
}

// TestDefaultStrategyDeadlocks checks the rollout that is most common in practice: the default
// strategy, hard anti-affinity, and as many replicas as nodes.
func TestDefaultStrategyDeadlocks(t *testing.T) {
	for replicas := 1; replicas <= 4; replicas++ {
		for spare := range 2 {
			for name, v := range map[string]struct{ strategy, more string }{
				"default":           {"", ""},
				"maxUnavailable 1":  {", strategy: {rollingUpdate: {maxUnavailable: 1}}", ""},
				"maxSurge 0":        {", strategy: {rollingUpdate: {maxSurge: 0}}", ""},
				"Recreate":          {", strategy: {type: Recreate}", ""},
				"pod-template-hash": {"", ", matchLabelKeys: [pod-template-hash]"},
			} {
				manifest := object("apps/v1", "Deployment", fmt.Sprintf("replicas: %d%s", replicas, v.strategy), anti(apartOn(hostKey, v.more)))
				c := changes(t, linttest.Workers(replicas+spare, 0), manifest)
				want, verdict := name == "default" && replicas < 4 && spare == 0, c.of("web").Rollout.Verdict
				if found := slices.Contains(c.rules, "rollout-deadlock"); found != want || slices.Contains(c.rules, "rollout-may-deadlock") || (verdict == "never") != want || (verdict == "always") == want {
					t.Errorf("%d replicas on %d nodes, %s: rollout-deadlock %t, want %t; place says %s", replicas, replicas+spare, name, found, want, verdict)
				}
			}
		}
	}
}

// TestChangeVectors checks workloads derived from the rules for controllers, budgets and machines
// (lint/sched/SEMANTICS.md). It checks the rules that fire, and some that do not.
func TestChangeVectors(t *testing.T) {
	vm := func(kind, top, pod string) string { return object("kubevirt.io/v1", kind, top, pod) }
	vms := func(n int, pod string) string {
		text := ""
		for i := range n {
			text += "---\n" + strings.Replace(vm("VirtualMachine", "runStrategy: Always", pod), "name: web,", fmt.Sprintf("name: web-%d,", i), 1)
		}
		return strings.ReplaceAll(text, "selector: {matchLabels: {app: web}}, ", "")
	}
	live := "evictionStrategy: LiveMigrate, "
	other := strings.NewReplacer("name: web,", "name: db,", "app: web", "app: db")
	near := func(app string) string {
		return "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: " + app + "}}}]}}"
	}
	for _, v := range []struct {
		id, nodes, manifest, rule string
		silent                    []string
		check                     func(c *changed) string
	}{
		{id: "W-1", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "Deployment", "replicas: 3", anti(apartOn(hostKey, ""))), rule: "rollout-deadlock", silent: []string{"anti-affinity-exceeds-domains"}},
		{id: "W-2", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "Deployment", "replicas: 3", anti(apartOn(hostKey, ", matchLabelKeys: [pod-template-hash]"))), silent: []string{"rollout-deadlock", "rollout-may-deadlock"}},
		{id: "W-3", nodes: linttest.Workers(3, 0), manifest: strings.ReplaceAll(object("apps/v1", "Deployment", "replicas: 2", anti(apartOn(hostKey, ", matchLabelKeys: [version]"))), "app: web}", "app: web, version: v1}"), rule: "pods-rejected-by-api", silent: []string{"rollout-deadlock"}},
		{id: "W-4", nodes: linttest.Workers(1, 0), manifest: object("apps/v1", "StatefulSet", "replicas: 3, serviceName: web", anti(apartOn(hostKey, ""))), rule: "anti-affinity-exceeds-domains", silent: []string{"rollout-deadlock"}},
		{id: "W-5", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "StatefulSet", "replicas: 3, serviceName: web", anti(apartOn(hostKey, ""))), silent: []string{"rollout-deadlock", "rollout-may-deadlock"},
			check: func(c *changed) string { return c.of("web").Rollout.Verdict + " always" }},
		{id: "W-6", nodes: linttest.Workers(3, 0), manifest: strings.Replace(object("apps/v1", "DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}", "hostNetwork: true"), "image: example.com/c", "image: example.com/c, ports: [{containerPort: 80}]", 1), rule: "rollout-deadlock"},
		{id: "W-6 without surge", nodes: linttest.Workers(3, 0), manifest: strings.Replace(object("apps/v1", "DaemonSet", "", "hostNetwork: true"), "image: example.com/c", "image: example.com/c, ports: [{containerPort: 80}]", 1), silent: []string{"rollout-deadlock"}},
		{id: "W-7", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "Deployment", "replicas: 2", "") + "---\n" + pdb("minAvailable: 2"), rule: "drain-blocked"},
		{id: "W-7, maxUnavailable", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "Deployment", "replicas: 2", "") + "---\n" + pdb("maxUnavailable: 0"), rule: "drain-blocked"},
		{id: "W-7, one may go", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "Deployment", "replicas: 2", "") + "---\n" + pdb("minAvailable: 1"), silent: []string{"drain-blocked"}},
		{id: "W-8", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "Deployment", "replicas: 2", anti(apartOn(hostKey, ""))) + "---\n" + scaler(2, 10), rule: "autoscaler-exceeds-domains", silent: []string{"rollout-deadlock", "anti-affinity-exceeds-domains"}},
		{id: "W-9", nodes: linttest.Workers(3, 0), manifest: vms(1, "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, matchLabelKeys: [tenant]}]}}"), rule: "pods-rejected-by-api"},
		{id: "W-10", nodes: linttest.Workers(6, 3), manifest: vms(3, live+anti(apartOn(zoneKey, ""))), rule: "vm-cannot-migrate",
			check: func(c *changed) string { return c.of("web-0").Drain.Verdict + " never" }},
		{id: "W-10, own pod passed over", nodes: linttest.Workers(6, 3), manifest: vms(3, live+anti(apartOn(zoneKey, ", mismatchLabelKeys: [kubevirt.io/created-by]"))), silent: []string{"vm-cannot-migrate"},
			check: func(c *changed) string { return c.of("web-0").Migrate.Verdict + " always" }},
		{id: "W-11", nodes: linttest.Workers(3, 0), manifest: vms(1, near("db")) + "---\n" + other.Replace(object("apps/v1", "Deployment", "replicas: 1", "")), rule: "vm-cannot-migrate"},
		{id: "W-12", nodes: linttest.Workers(3, 0), manifest: object("apps/v1", "Deployment", "replicas: 1", near("db")) + "---\n" + other.Replace(object("apps/v1", "Deployment", "replicas: 1", strings.Replace(near("db"), "app: db", "app: wEb", 1))), rule: "circular-affinity"},
		{id: "W-13", nodes: linttest.Workers(3, 0), manifest: "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: web, namespace: shop, labels: {app: web}}\nspec: {runStrategy: Always, template: {spec: {domain: {devices: {}}, " + anti(apartOn(hostKey, "")) + "}}}\n", rule: "vm-labels-never-reach-pods"},
		{id: "W-14", nodes: linttest.Workers(3, 0), manifest: object("argoproj.io/v1alpha1", "Rollout", "replicas: 2, strategy: {blueGreen: {activeService: web}}", anti(apartOn(hostKey, ""))), rule: "rollout-deadlock"},
		{id: "W-14, room for both", nodes: linttest.Workers(4, 0), manifest: object("argoproj.io/v1alpha1", "Rollout", "replicas: 2, strategy: {blueGreen: {activeService: web}}", anti(apartOn(hostKey, ""))), silent: []string{"rollout-deadlock", "rollout-may-deadlock"}},
		{id: "W-15", nodes: linttest.Workers(1, 0), manifest: "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web, namespace: shop}\nspec: {schedule: '* * * * *', concurrencyPolicy: Forbid, jobTemplate: {spec: {template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, " + anti(apartOn(hostKey, "")) + ", containers: [{name: c, image: c}]}}}}}\n",
			check: func(c *changed) string { return c.of("web").Rollout.Verdict + " none" }},
		{id: "W-16", nodes: linttest.Workers(3, 3), manifest: object("apps/v1", "Deployment", "replicas: 2", anti(apartOn(hostKey, ", matchLabelKeys: [topology.kubernetes.io/zone]"))), rule: "match-label-key-not-on-pod"},
	} {
		t.Run(v.id, func(t *testing.T) {
			c := changes(t, v.nodes, strings.ReplaceAll(v.manifest, "wEb", "web"))
			if v.rule != "" && !slices.Contains(c.rules, v.rule) {
				t.Errorf("found %v, want %s", c.rules, v.rule)
			}
			for _, rule := range v.silent {
				if slices.Contains(c.rules, rule) {
					t.Errorf("found %v, want no %s", c.rules, rule)
				}
			}
			if v.check != nil {
				if got, want, _ := strings.Cut(v.check(c), " "); got != want {
					t.Errorf("place says %q, want %q", got, want)
				}
			}
		})
	}
}

// pdb returns a PodDisruptionBudget for app=web.
func pdb(limit string) string {
	return "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec: {" + limit + ", selector: {matchLabels: {app: web}}}\n"
}

// scaler returns an autoscaler of the Deployment web.
func scaler(low, high int) string {
	return fmt.Sprintf("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\nspec: {minReplicas: %d, maxReplicas: %d, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", low, high)
}

// TestNineReplicasInThreeZones checks the loss of a zone with a hard spread constraint and maxSkew
// 1. If the nodes of the zone are deleted, the other zones can take its pods. If they are only
// unreachable, the zone counts as an empty domain and limits the others, unless the constraint
// honors its taint.
func TestNineReplicasInThreeZones(t *testing.T) {
	spread := func(more string) string {
		return object("apps/v1", "Deployment", "replicas: 9", "topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: "+zoneKey+", labelSelector: {matchLabels: {app: web}}"+more+"}]")
	}
	sized := func(pods int) string {
		return strings.Replace(linttest.Workers(3, 3), "}}", fmt.Sprintf("}, allocatable: {pods: %q}}", fmt.Sprint(pods)), 1)
	}
	for _, v := range []struct {
		topology, more string
		want           string
	}{
		{linttest.Workers(3, 3), "", "gone always 0, unreachable never 3"},
		{linttest.Workers(3, 3), ", nodeTaintsPolicy: Honor", "gone always 0, unreachable always 0"},
		{sized(5), "", "gone always 0, unreachable never 3"},
		{sized(4), "", "gone never 1, unreachable never 3"},
		{sized(4), ", nodeTaintsPolicy: Honor", "gone never 1, unreachable never 1"},
	} {
		c := changes(t, v.topology, spread(v.more))
		zones := 0
		var said []string
		for _, s := range c.of("web").Survives {
			if s.Key != zoneKey {
				continue
			}
			if text := fmt.Sprintf("%s %s %d", s.Meaning, s.Verdict, s.Pending); !slices.Contains(said, text) {
				said = append(said, text)
			}
			zones++
		}
		slices.SortFunc(said, func(a, b string) int { return strings.Compare(b[1:], a[1:]) }) // gone before unreachable
		if got := strings.Join(said, ", "); got != v.want || zones != 6 {
			t.Errorf("%s%s: %s over %d losses, want %s", v.topology, v.more, got, zones, v.want)
		}
	}
}

// TestChangeSilent checks inputs that look as if a change would fail although it does not.
func TestChangeSilent(t *testing.T) {
	for name, manifest := range map[string]string{
		"a DaemonSet that keeps its pods apart": object("apps/v1", "DaemonSet", "", anti(apartOn(hostKey, ""))),
		"a Deployment that is paused":           object("apps/v1", "Deployment", "replicas: 2, paused: true", anti(apartOn(hostKey, ""))),
		"a Job":                                 "apiVersion: batch/v1\nkind: Job\nmetadata: {name: web, namespace: shop}\nspec: {parallelism: 2, completions: 2, template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, " + anti(apartOn(hostKey, "")) + ", containers: [{name: c, image: c}]}}}\n",
	} {
		c := changes(t, linttest.Workers(2, 0), manifest)
		for _, rule := range []string{"rollout-deadlock", "rollout-may-deadlock"} {
			if slices.Contains(c.rules, rule) || c.doc.Verdict != "always" {
				t.Errorf("%s: found %v, placed %s", name, c.rules, c.doc.Verdict)
			}
		}
	}
}

// TestUnfitDoesNotSurvive checks that pods that do not fit on all nodes do not fit on fewer.
func TestUnfitDoesNotSurvive(t *testing.T) {
	c := changes(t, linttest.Workers(3, 0), object("apps/v1", "Deployment", "replicas: 4", "nodeSelector: {disk: ssd}"))
	change := c.of("web")
	if len(change.Survives) == 0 || change.Drain.Verdict != "none" || change.Rollout.Verdict != "none" {
		t.Errorf("%+v", change)
	}
	for _, s := range change.Survives {
		if s.Verdict != "never" || s.Pending != 4 {
			t.Errorf("%+v", s)
		}
	}
}

// TestChangeHelp checks the advice in findings on the fixtures of their rules. Advice that
// keeps what the team asks for comes first.
func TestChangeHelp(t *testing.T) {
	for rule, want := range map[string][]string{
		"rollout-deadlock":              {"add matchLabelKeys: [pod-template-hash]", "add an eligible node", "set maxUnavailable: 1"},
		"rollout-may-deadlock":          {"remove matchLabelKeys: [pod-template-hash]"},
		"rollout-ends-skewed":           {"add matchLabelKeys: [pod-template-hash] to the constraint"},
		"vm-cannot-migrate":             {"add mismatchLabelKeys: [kubevirt.io/created-by]", "add an eligible node with a new topology.kubernetes.io/zone value"},
		"zone-loss-leaves-pods-pending": {"set nodeTaintsPolicy: Honor"},
		"drain-blocked":                 {"add a replica or set maxUnavailable: 1 instead"},
		"autoscaler-exceeds-domains":    {"add nodes or an autoscaled node pool"},
	} {
		dir := "../fixtures/" + rule
		text, err := os.ReadFile(dir + "/bad.yaml")
		if err != nil {
			t.Fatal(err)
		}
		report, err := runFor(t, rule, linttest.Survive(text), dir, []string{"nodes.yaml"}, "bad.yaml")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(report.Diagnostics, func(d diag.Diagnostic) bool { return d.Rule == rule })
		var help []string
		for _, f := range report.Diagnostics[i].Fixes {
			help = append(help, f.Description)
		}
		for k, begin := range want {
			if k >= len(help) || !strings.HasPrefix(help[k], begin) {
				t.Errorf("%s: advises %q, want one that begins with %q at place %d", rule, help, begin, k)
			}
		}
	}
}

// TestBudgetHelp checks that another replica is not advised if the budget would still allow no
// eviction.
func TestBudgetHelp(t *testing.T) {
	for limit, more := range map[string]bool{"minAvailable: 2": true, "minAvailable: 67%": false, "minAvailable: 100%": false, "maxUnavailable: 0": false} {
		report := lintFiles(t, linttest.Workers(3, 0), map[string]string{"web.yaml": object("apps/v1", "Deployment", "replicas: 2", "") + "---\n" + pdb(limit)})
		found := false
		for _, d := range report.Diagnostics {
			if d.Rule == "drain-blocked" {
				found = true
				if got := strings.Contains(d.Fixes[0].Description, "add a replica"); got != more {
					t.Errorf("%s: advises %q", limit, d.Fixes[0].Description)
				}
			}
		}
		if !found {
			t.Errorf("%s: not found", limit)
		}
	}
}

// TestMaximumBeginsToFit checks that, if a pool can grow far enough, a note gives the smallest size
// of the pool at which the maximum of an autoscaler fits.
func TestMaximumBeginsToFit(t *testing.T) {
	manifest := object("apps/v1", "Deployment", "replicas: 2", anti(apartOn(hostKey, ""))) + "---\n" + scaler(2, 8)
	report := lintFiles(t, "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: worker, count: 3, max: 10}\n", map[string]string{"web.yaml": manifest})
	if notes := strings.Join(report.Summary.Notes, "\n"); !strings.Contains(notes, "they fit once pool worker has 8 nodes") {
		t.Errorf("notes: %s", notes)
	}
	for _, d := range report.Diagnostics {
		if d.Rule == "autoscaler-exceeds-domains" || d.Rule == "rollout-deadlock" {
			t.Errorf("%s: %s", d.Rule, d.Message)
		}
	}
}
