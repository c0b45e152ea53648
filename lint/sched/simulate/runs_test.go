package simulate

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/models"
)

// text formats results for comparison.
func text(r *Result) string {
	var b strings.Builder
	for _, c := range r.Components {
		fmt.Fprintf(&b, "%v: %s, grows %v, %d runs, %d complete, %d preempt\n", c.Workloads, c.Why.Cause, c.Grows, c.Runs, c.Complete, c.Preempts)
		for _, t := range c.Tallies {
			fmt.Fprintf(&b, "  %s: %+v\n", t.Workload, t)
		}
	}
	return b.String()
}

// TestRuns checks runs that chance does not decide, or only in part: "some" stands for a number
// above 0 and below the number of runs. A line has the name of a workload, the runs that leave out
// one of its pods, the most pods left out, the runs in which all are on one node, and the most on one node.
func TestRuns(t *testing.T) {
	const big, small = "containers: [{name: c, image: c, resources: {requests: {cpu: 3}}}]", "containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]"
	class := func(name string, value int) string {
		return fmt.Sprintf("---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: %s}\nvalue: %d\n", name, value)
	}
	daemon := func(name, spec string) string {
		return strings.Replace(strings.Replace(deployment(name, 1, spec), "Deployment", "DaemonSet", 1), "replicas: 1, ", "", 1)
	}
	running := func(name, node, spec string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: d}\nspec: {nodeName: %s, %s}\nstatus: {phase: Running}\n", name, node, spec)
	}
	affinity := func(use, key, app string) string {
		return fmt.Sprintf("affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: %s}}}]}}", use, key, app)
	}
	stateful := func(text string) string { return strings.ReplaceAll(text, "Deployment", "StatefulSet") }
	two := nodes("a", "b")
	for _, c := range []struct{ name, nodes, manifests, runs, want string }{
		{"room for all", two, deployment("web", 4, ""), "all complete", "web 0 0 0 2"},
		{"replicas spread by default", two, deployment("web", 2, ""), "all complete", "web 0 0 0 1"},
		{"one pod too many", nodes("a"), deployment("web", 5, small), "0 complete", "web all 1 0 4"},
		{"what comes first", nodes("a"), deployment("web", 1, big) + deployment("db", 2, small), "0 complete", "db some 1 some 2, web some 1 0 1"},
		{"priority", nodes("a"), deployment("web", 1, big+", priorityClassName: high") + deployment("db", 2, small) + class("high", 10), "0 complete", "db all 1 0 1, web 0 0 0 1"},
		{"a pod that can preempt", nodes("a"), deployment("web", 1, big+", priorityClassName: high") + running("db", "a", big) + class("high", 10), "all preempt", "web 0 0 0 0"},
		{"a pod that must not preempt", nodes("a"), deployment("web", 1, big+", priorityClassName: high, preemptionPolicy: Never") + running("db", "a", big) + class("high", 10) + "preemptionPolicy: Never\n", "0 complete", "web all 1 0 0"},
		{"nobody of lower priority", nodes("a"), deployment("web", 1, big+", priorityClassName: high") + running("db", "a", big+", priorityClassName: high") + class("high", 10), "0 complete", "web all 1 0 0"},
		{"no room for it even then", nodes("a"), deployment("web", 1, "containers: [{name: c, image: c, resources: {requests: {cpu: 5}}}], priorityClassName: high") + running("db", "a", small) + class("high", 10), "0 complete", "web all 1 0 0"},
		{"company may come later", two, deployment("web", 2, affinity("podAffinity", "kubernetes.io/hostname", "db")) + deployment("db", 1, ""), "all complete", "db 0 0 0 1, web 0 0 all 2"},
		{"one StatefulSet pod after another", two, stateful(deployment("web", 4, affinity("podAntiAffinity", "kubernetes.io/hostname", "web"))), "0 complete", "web all 2 0 1"},
		{"StatefulSet pods that selectors tell apart", two, stateful(deployment("web", 2, "")) + deployment("db", 1, affinityExpression("apps.kubernetes.io/pod-index", "1")), "all complete", "db 0 0 0 1, web 0 0 0 1"},
		{"DaemonSets come first", nodes("a"), daemon("agent", small+", priorityClassName: low") + deployment("web", 2, small) + deployment("db", 1, big) + class("low", -10), "some preempt", "db some 1 0 0, web 0 0 some 2"},
		{"DaemonSets that fit", nodes("a"), daemon("agent", small) + deployment("web", 1, big), "all complete", "web 0 0 0 1"},
		{"DaemonSets that do not fit", nodes("a"), daemon("agent", big) + daemon("other", big) + deployment("web", 1, small), "0 complete", "web 0 0 0 1, agent some 1 0 0, other some 1 0 0"},
		{"DaemonSets that do not fit where nothing else runs", nodes("a", "b disk: ssd"), daemon("agent", big+", nodeSelector: {disk: ssd}") + daemon("other", big+", nodeSelector: {disk: ssd}"), "0 complete", "agent some 1 0 0, other some 1 0 0"},
		{"pods that finish", nodes("a"), deployment("web", 1, big) + "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: job, namespace: d}\nspec: {template: {spec: {restartPolicy: Never, " + big + "}}}\n", "all complete", "web 0 0 0 1"},
		{"a workload that uses other nodes", nodes("a", "b disk: ssd"), deployment("web", 5, "nodeSelector: {kubernetes.io/hostname: a}") + deployment("db", 2, "nodeSelector: {disk: ssd}"), "all complete", "db 0 0 all 2"},
		{"too many pods", two, deployment("web", 2_000_000_000, ""), "size", ""},
		{"another scheduler", two, deployment("web", 1, "") + deployment("db", 1, "schedulerName: volcano"), "not-modeled", ""},
		{"another scheduler for other nodes", nodes("a", "b disk: ssd"), deployment("web", 1, "nodeSelector: {kubernetes.io/hostname: a}") + deployment("db", 1, "schedulerName: volcano, nodeSelector: {disk: ssd}"), "not-modeled", ""},
		{"too little is known about one of them", two, deployment("web", 2, "") + deployment("db", 1, "containers: [{name: c, image: c, resources: {limits: {example.com/gpu: 1}}}]"), "unlisted-resource", "web 0 0 0 0"},
		{"an unknown priority", two, deployment("web", 1, "priorityClassName: high") + deployment("db", 1, ""), "priority", ""},
		{"one unknown priority for all", two, deployment("web", 1, "priorityClassName: high") + deployment("db", 1, "priorityClassName: high"), "all complete", "db 0 0 0 1, web 0 0 0 1"},
		{"a node without memory", strings.Replace(two, "memory: 8Gi, ", "", 1), deployment("web", 1, ""), "unlisted-resource", ""},
		{"a soft rule on a label of the cluster", two, deployment("web", 1, "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {pod-template-hash: b54c}}}}]}}"), "label-value", ""},
		{"a preference that does not parse", two, deployment("web", 1, "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: k, operator: Gt, values: [abc]}]}}]}}"), "unknown-field", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const runs = 40
			m, _ := models.Of(t, c.nodes, c.manifests)
			r := Runs(m, runs)
			last := r.Components[0]
			some := func(n int) string {
				switch n {
				case 0:
					return "0"
				case runs:
					return "all"
				}
				return "some"
			}
			var got []string
			for _, x := range last.Tallies {
				got = append(got, fmt.Sprintf("%s %s %d %s %d", x.Workload.Object.Name, some(x.LeftOut), x.Missing, some(x.OneNode), x.Most))
			}
			ended := some(last.Complete) + " complete"
			if last.Preempts > 0 {
				ended = some(last.Preempts) + " preempt"
			}
			if last.Why.Given() {
				ended = string(last.Why.Cause)
			}
			if ended != c.runs || strings.Join(got, ", ") != c.want {
				t.Errorf("%s: %q, want %s: %q", ended, strings.Join(got, ", "), c.runs, c.want)
			}
			if !last.Why.Given() && last.Runs != runs {
				t.Errorf("%d runs, want %d", last.Runs, runs)
			}
		})
	}
}

func affinityExpression(key, value string) string {
	return fmt.Sprintf("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: %s, operator: In, values: [%q]}]}}]}}", key, value)
}

// TestFewSteps checks that nothing is said if the steps suffice for a few runs only, that more
// steps give the same first runs, and that a run that is cut off leaves nothing behind.
func TestFewSteps(t *testing.T) {
	c := clusters.Everyday(19, 3)
	run := func(factor float64) *Component {
		n, w := c.Text()
		m, _ := models.Of(t, n, w)
		m.Scale(factor, 1)
		return Runs(m, 1_000_000).Components[0]
	}
	if few := run(0.005); few.Why.Cause != "budget" || few.Runs != 0 || few.Tallies != nil {
		t.Errorf("with few steps there is %+v", few)
	}
	some, more := run(0.05), run(0.1)
	if some.Runs < MinRuns || more.Runs < some.Runs+MinRuns || some.Complete == 0 || more.Complete < some.Complete {
		t.Errorf("with more steps there are %d and %d runs, of which %d and %d are complete", some.Runs, more.Runs, some.Complete, more.Complete)
	}
}

// TestSameBytes checks that results depend neither on the order of the input nor on the number of
// processors, and are those of every other machine.
func TestSameBytes(t *testing.T) {
	c := clusters.Everyday(19, 3)
	n, w := c.Text()
	m, _ := models.Of(t, n, w)
	want := text(Runs(m, 100))
	if again := text(Runs(m, 100)); again != want {
		t.Error("the same model gives other results the second time")
	}
	shuffled := func(text string, seed uint64) string {
		docs := strings.SplitAfter(text, "\n---\n")
		for i := range docs {
			docs[i] = "---\n" + strings.TrimSuffix(strings.TrimPrefix(docs[i], "---\n"), "---\n")
		}
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		return strings.Join(docs, "")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range uint64(3) {
		runtime.GOMAXPROCS(int(seed) + 1)
		m, _ := models.Of(t, shuffled(n, seed), shuffled(w, seed))
		if got := text(Runs(m, 100)); got != want {
			t.Errorf("in another order: %s\nwant %s", got, want)
		}
	}
	if head, _, _ := strings.Cut(want, "\n"); !strings.HasSuffix(head, fixed) {
		t.Errorf("results differ from those of another machine: %s", head)
	}
}

// fixed is what TestSameBytes finds everywhere.
const fixed = "100 runs, 38 complete, 0 preempt"

// TestUnrelated checks that workloads and DaemonSets for other nodes change nothing.
func TestUnrelated(t *testing.T) {
	c := clusters.Everyday(19, 3)
	n, w := c.Text()
	further := strings.ReplaceAll(nodes("x1 only: x", "x2 only: x"), "status:", "spec: {taints: [{key: only, effect: NoSchedule}]}\nstatus:")
	const there = "nodeSelector: {only: x}, tolerations: [{key: only, operator: Exists}]"
	plain, _ := models.Of(t, n+further, w)
	more, _ := models.Of(t, n+further, w+deployment("aaa", 3, there)+deployment("zzz", 30, there)+
		strings.Replace(strings.Replace(deployment("agent", 1, there), "Deployment", "DaemonSet", 1), "replicas: 1, ", "", 1))
	want, got := Runs(plain, 50), Runs(more, 50)
	about := slices.IndexFunc(got.Components, func(c *Component) bool { return len(c.Workloads) == len(want.Components[0].Workloads) })
	if about < 0 || text(&Result{Components: got.Components[about : about+1]}) != text(&Result{Components: want.Components[:1]}) {
		t.Errorf("with other workloads:\n%s\nwithout:\n%s", text(got), text(want))
	}
}
