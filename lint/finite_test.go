package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// forms are ways to declare pods with the label app and a given spec. Some declare three permanent
// pods, the others pods that terminate by themselves.
var forms = map[string]func(name, labels, spec string) string{
	"Deployment": func(name, labels, spec string) string {
		return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: shop}\nspec: {replicas: 3, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s%s}}, spec: {%scontainers: [{name: c, image: c}]}}}\n", name, name, name, labels, spec)
	},
	"Job": func(name, labels, spec string) string {
		return fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata: {name: %s, namespace: shop}\nspec: {parallelism: 3, completions: 3, template: {metadata: {labels: {app: %s%s}}, spec: {restartPolicy: Never, %scontainers: [{name: c, image: c}]}}}\n", name, name, labels, spec)
	},
	"CronJob": func(name, labels, spec string) string {
		return fmt.Sprintf("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: %s, namespace: shop}\nspec: {schedule: '* * * * *', jobTemplate: {spec: {parallelism: 3, completions: 3, template: {metadata: {labels: {app: %s%s}}, spec: {restartPolicy: OnFailure, %scontainers: [{name: c, image: c}]}}}}}\n", name, name, labels, spec)
	},
	"Never":     barePods("Never"),
	"OnFailure": barePods("OnFailure"),
	"Always":    barePods("Always"),
}

// barePods returns a function that writes three bare pods.
func barePods(restart string) func(name, labels, spec string) string {
	return func(name, labels, spec string) string {
		var all []string
		for i := range 3 {
			all = append(all, fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s-%d, namespace: shop, labels: {app: %s%s}}\nspec: {restartPolicy: %s, %scontainers: [{name: c, image: c}]}\n", name, i, name, labels, restart, spec))
		}
		return strings.Join(all, "---\n")
	}
}

// stays lists the forms with permanent pods.
var stays = []string{"Deployment", "Always"}

// both runs lint and place on one text with nodes.
func both(t *testing.T, nodes, text string) (rules []string, doc *diag.Placement) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"nodes.yaml": nodes, "app.yaml": text})
	report, err := run(t, dir, []string{"nodes.yaml"}, "app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Diagnostics {
		rules = append(rules, d.Rule)
	}
	return rules, linttest.Place(t, lint.Options{Dir: dir, Root: dir, Paths: []string{"app.yaml"}, Topology: []string{"nodes.yaml"}})
}

const twoNodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: worker, count: 2, allocatable: {cpu: '4', memory: 8Gi, pods: '9'}}]\n"

// TestFinitePodsWait checks that an error about permanent pods is not reported for pods that
// terminate by themselves. In lint and in place, they wait until nodes have capacity.
func TestFinitePodsWait(t *testing.T) {
	apart := "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {tier: x}}}]}}, "
	cases := map[string]struct {
		spec  string
		rules []string // one of these is reported for permanent pods
	}{
		"requests":      {"resources: {requests: {cpu: '3'}}, ", []string{"cluster-too-small"}},
		"anti-affinity": {apart, []string{"anti-affinity-exceeds-domains", "crowded-out"}},
		"host port":     {"hostNetwork: true, initContainers: [{name: i, image: i, restartPolicy: Always, ports: [{containerPort: 80}]}], ", []string{"host-port-exceeds-nodes", "crowded-out"}},
		"spread": {"topologySpreadConstraints: [{maxSkew: 1, minDomains: 3, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {tier: x}}}], ",
			[]string{"spread-exceeds-skew", "crowded-out"}},
	}
	for name, c := range cases {
		for form, write := range forms {
			rules, doc := both(t, twoNodes, write("web", ", tier: x", c.spec))
			said := slices.ContainsFunc(rules, func(r string) bool { return slices.Contains(linttest.Pending, r) })
			if slices.Contains(stays, form) {
				if !slices.ContainsFunc(rules, func(r string) bool { return slices.Contains(c.rules, r) }) || doc.Verdict != "never" {
					t.Errorf("%s, %s: found %v, place says %s", name, form, rules, doc.Verdict)
				}
				continue
			}
			waits := slices.ContainsFunc(doc.Workloads, func(w diag.PlacementWorkload) bool { return w.Verdict == "unknown" && w.Reason == "waits" })
			if said || doc.Verdict != "always" || doc.Pods != (diag.PlacementPods{Exact: true}) || !waits || len(doc.Notes) != 1 {
				t.Errorf("%s, %s: found %v, place says %s, %+v, %+v", name, form, rules, doc.Verdict, doc.Pods, doc.Workloads)
			}
		}
	}
}

// TestFinitePodsTakeNoRoom checks that permanent pods eventually get the capacity used by pods that
// terminate, and that permanent pods block each other.
func TestFinitePodsTakeNoRoom(t *testing.T) {
	for name, c := range map[string]struct{ nodes, spec string }{
		"requests":  {strings.Replace(twoNodes, "cpu: '4'", "cpu: '6'", 1), "resources: {requests: {cpu: '2500m'}}, "},
		"host port": {strings.Replace(twoNodes, "count: 2", "count: 3", 1), "hostNetwork: true, initContainers: [{name: i, image: i, restartPolicy: Always, ports: [{containerPort: 80}]}], "},
	} {
		for form, write := range forms {
			rules, doc := both(t, c.nodes, forms["Deployment"]("stays", "", c.spec)+"---\n"+write("other", "", c.spec))
			said := slices.ContainsFunc(rules, func(r string) bool { return slices.Contains(linttest.Pending, r) || r == "order-dependent-placement" })
			want := "always"
			if slices.Contains(stays, form) {
				want = "never"
			}
			if doc.Verdict != want || said != (want == "never") {
				t.Errorf("%s, %s: found %v, place says %s", name, form, rules, doc.Verdict)
			}
		}
	}
}

// TestFinitePodsThatNeverRun checks that it is an error if pods cannot run even after others
// terminate.
func TestFinitePodsThatNeverRun(t *testing.T) {
	near := "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: %s}]}}, "
	for name, c := range map[string]struct{ spec, rule string }{
		"node selector":  {"nodeSelector: {disk: ssd}, ", "no-eligible-node"},
		"request":        {"resources: {requests: {cpu: '5'}}, ", "request-exceeds-nodes"},
		"spread key":     {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}], ", "spread-exceeds-skew"},
		"affinity key":   {fmt.Sprintf(near, "rack", "{matchLabels: {app: web}}"), "affinity-never-satisfied"},
		"null selector":  {strings.Replace(fmt.Sprintf(near, "kubernetes.io/hostname", "x"), ", labelSelector: x", "", 1), "affinity-never-satisfied"},
		"each the other": {fmt.Sprintf(near, "kubernetes.io/hostname", "{matchExpressions: [{key: app, operator: NotIn, values: [web]}, {key: tier, operator: In, values: [x]}]}"), "circular-affinity"},
	} {
		for form, write := range forms {
			text := write("web", ", tier: x", c.spec)
			if c.rule == "circular-affinity" {
				text += "---\n" + write("other", ", tier: x", strings.Replace(c.spec, "[web]", "[other]", 1))
			}
			rules, doc := both(t, twoNodes, text)
			never := !slices.ContainsFunc(doc.Workloads, func(w diag.PlacementWorkload) bool { return w.Verdict != "never" })
			if !slices.Contains(rules, c.rule) || !never {
				t.Errorf("%s, %s: found %v, place says %+v", name, form, rules, doc.Workloads)
			}
			if doc.Verdict != "never" {
				t.Errorf("%s, %s: place says %s of all", name, form, doc.Verdict)
			}
		}
	}
}

// TestFinitePodsAsCompany checks pods that terminate by themselves while other pods need them
// nearby or count them. The answer is unknown, with this reason.
func TestFinitePodsAsCompany(t *testing.T) {
	for name, spec := range map[string]string{
		"affinity": "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: seed}}}]}}, ",
		"spread":   "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: [{key: app, operator: Exists}]}}], ",
	} {
		for form, write := range forms {
			rules, doc := both(t, twoNodes, forms["Deployment"]("web", "", spec)+"---\n"+write("seed", "", ""))
			want, reason := "unknown", "finite-pods"
			if slices.Contains(stays, form) {
				want, reason = "always", ""
			}
			web := doc.Workloads[slices.IndexFunc(doc.Workloads, func(w diag.PlacementWorkload) bool { return w.Name == "web" })]
			if name == "spread" && want == "always" && web.Verdict == "sometimes" {
				continue
			}
			if web.Verdict != want || web.Reason != reason || doc.Verdict != want || web.Change.Rollout.Verdict == "none" {
				t.Errorf("%s, %s: place says %s, and of web %s, %q, %+v", name, form, doc.Verdict, web.Verdict, web.Reason, web.Change)
			}
			if slices.ContainsFunc(rules, func(r string) bool { return slices.Contains(linttest.Pending, r) }) {
				t.Errorf("%s, %s: found %v", name, form, rules)
			}
		}
	}
}

// TestQueuedByKueue checks that no node filter is applied to workloads that Kueue holds back,
// because a ResourceFlavor may add node labels and tolerations. The summary counts these workloads.
func TestQueuedByKueue(t *testing.T) {
	spec := "nodeSelector: {disk: ssd}, "
	for form, write := range forms {
		text := strings.ReplaceAll(write("web", "", spec), "namespace: shop}", "namespace: shop, labels: {kueue.x-k8s.io/queue-name: batch}}")
		if strings.Contains(text, "kind: Pod") { // it already has labels
			text = write("web", ", kueue.x-k8s.io/queue-name: batch", spec)
		}
		rules, doc := both(t, twoNodes, text)
		want := "always" // the verdict covers permanent pods only
		if slices.Contains(stays, form) {
			want = "unknown"
		}
		if len(rules) > 0 || doc.Verdict != want || len(doc.Unmodelled) == 0 || !strings.Contains(doc.Unmodelled[0], "queued by Kueue") {
			t.Errorf("%s: found %v, place says %s, not modelled: %v\n%s", form, rules, doc.Verdict, doc.Unmodelled, text)
		}
		if rules, _ = both(t, twoNodes, strings.ReplaceAll(text, "kueue.x-k8s.io/queue-name", "queue")); !slices.Contains(rules, "no-eligible-node") {
			t.Errorf("%s without the label of Kueue: found %v", form, rules)
		}
	}
}
