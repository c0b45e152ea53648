package derive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// hostile holds manifests and nodes whose cost once grew much faster than their size.
var hostile = []struct {
	name             string
	nodes            int
	manifests        func() string
	lintGivesUp, all bool // whether linting, and placing, give something up
	slow             bool // takes seconds, so only the full trials run it
}{
	{"120 workloads that exclude everything", 3, func() string {
		return many(120, func(i int) string {
			return deployment(i, 1, apart("kubernetes.io/hostname", "{}"))
		})
	}, true, true, true},
	{"90 workloads with 19 crossing terms", 20, func() string {
		keys := []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack", "row"}
		return many(90, func(i int) string {
			var terms []string
			for t := range 19 {
				terms = append(terms, keys[(i+t)%4], fmt.Sprintf("{matchLabels: {app: d%d}}", (i*7+t*13+1)%90))
			}
			return deployment(i, 2, apart(terms...))
		})
	}, true, true, true},
	{"3,000 unrelated workloads", 20, func() string {
		return many(3000, func(i int) string { return deployment(i, 1+i%3, "") })
	}, false, true, false},
	{"200 circular affinities", 3, func() string {
		return many(200, func(i int) string {
			return deployment(i, 1, "      affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: ["+
				fmt.Sprintf("{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: d%d}}}]}}\n", (i+1)%200))
		})
	}, false, true, true},
	{"5,000 spread keys", 3, func() string {
		var list strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&list, "      - {maxSkew: 1, topologyKey: k%d, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: d0}}}\n", i)
		}
		return deployment(0, 3, "      topologySpreadConstraints:\n"+list.String())
	}, false, true, true},
	{"3,000 budgets of one workload", 3, func() string {
		return deployment(0, 3, "") + many(3000, func(i int) string {
			return fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b%d}\nspec: {maxUnavailable: 0, selector: {matchLabels: {app: d0}}}\n---\n", i)
		})
	}, false, false, false},
	{"30 workloads with 299 host ports", 3, func() string {
		return many(30, func(i int) string {
			var ports []string
			for p := range 299 {
				n := 10000 + (i*37+p)%20000
				ports = append(ports, fmt.Sprintf("{containerPort: %d, hostPort: %d}", n, n))
			}
			return strings.Replace(deployment(i, 2, ""), "image: x", "image: x, ports: ["+strings.Join(ports, ", ")+"]", 1)
		})
	}, true, true, true},
	{"150,000 fields that do not exist", 3, func() string {
		return deployment(0, 1, many(150_000, func(i int) string { return fmt.Sprintf("      f%d: 1\n", i) }))
	}, true, false, false},
	{"150,000 keys that no pod has, of one constraint", 3, func() string {
		return deployment(0, 1, "      topologySpreadConstraints:\n      - maxSkew: 1\n        topologyKey: rack\n        whenUnsatisfiable: ScheduleAnyway\n"+
			"        labelSelector: {matchLabels: {app: d0}}\n        matchLabelKeys:\n"+many(150_000, func(i int) string { return fmt.Sprintf("        - k%d\n", i) }))
	}, true, false, false},
	{"as many replicas as there can be", 3, func() string { return deployment(0, 1<<31-1, "") }, false, false, false},
}

func many(n int, one func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(one(i))
	}
	return b.String()
}

func deployment(i, replicas int, spec string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: d%d}
spec:
  replicas: %d
  selector: {matchLabels: {app: d%d}}
  template:
    metadata: {labels: {app: d%d}}
    spec:
      containers: [{name: c, image: x, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
%s---
`, i, replicas, i, i, spec)
}

// apart returns required anti-affinity for pairs of a key and a selector.
func apart(pairs ...string) string {
	var terms []string
	for i := 0; i < len(pairs); i += 2 {
		terms = append(terms, fmt.Sprintf("{topologyKey: %s, labelSelector: %s}", pairs[i], pairs[i+1]))
	}
	return "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + strings.Join(terms, ", ") + "]}}\n"
}

func clusterOf(t testing.TB, nodes int, manifests string) (*model.Model, *workload.Set) {
	t.Helper()
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: Node\nmetadata: {name: n%d, labels: {kubernetes.io/hostname: n%d, topology.kubernetes.io/zone: z%d, rack: r%d, row: q%d}}\n"+
			"status: {allocatable: {cpu: \"8\", memory: 32Gi, pods: \"110\"}}\n---\n", i, i, i%3, i%7, i%5)
	}
	topo, err := topology.Load(models.Objects(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	set := workload.Load(workload.NewTable(), models.Objects(t, manifests))
	m := sched.New(set, topo)
	m.Scale(1, 1)
	return m, set
}

// core returns the engine with the built-in rules.
func core(t testing.TB) *rego.Engine {
	t.Helper()
	e, err := rego.Load(rego.Options{Rules: rules.FS})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// maxSteps is the maximum number of steps in one run. They take about 10 CPU-seconds.
const maxSteps = 400_000_000

// TestHostileSteps checks that linting and placing end within maxSteps steps for any manifests, and
// that they report the questions that they give up.
func TestHostileSteps(t *testing.T) {
	t.Parallel()
	losses := func(*workload.Workload) []string {
		return []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
	}
	for i, c := range hostile {
		if c.slow && !trials.Full(t) || trials.Few(t) && i < len(hostile)-1 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			text := c.manifests()
			m, set := clusterOf(t, c.nodes, text)
			derive.Facts(derive.Input{Model: m, Set: set, Wants: core(t).Wants})
			if got := m.Run().Spent(); got > maxSteps {
				t.Errorf("linting takes %d steps", got)
			}
			gaveUp := slices.DeleteFunc(slices.Clone(m.Run().GivenUp), func(u model.Unanswered) bool { return u.Cause == model.ByCrowd }) // it takes no step
			if got := len(gaveUp) > 0; got != c.lintGivesUp {
				t.Errorf("linting gives something up: %v, want %v: %v", got, c.lintGivesUp, gaveUp[:min(3, len(gaveUp))])
			}
			if trials.Full(t) {
				m, set = clusterOf(t, c.nodes, text)
				derive.Facts(derive.Input{Model: m, Set: set, Whole: func(string) bool { return true }, Asks: losses(nil), Origin: derive.Origin{Objects: models.Objects(t, text)}})
				if got := m.Run().Spent(); got > 2*maxSteps {
					t.Errorf("describing everything takes %d steps", got)
				}
			}
			m, set = clusterOf(t, c.nodes, text)
			derive.Decision(m, search.Decide(m, search.Options{}), disruption.New(m, set, search.Options{}), losses)
			if got := m.Run().Spent(); got > maxSteps {
				t.Errorf("placing takes %d steps", got)
			}
			if got := len(m.Run().GivenUp) > 0; got != c.all {
				t.Errorf("placing gives something up: %v, want %v", got, c.all)
			}
			if len(m.Run().Refused) > 0 {
				t.Errorf("a certificate is refused: %v", m.Run().Refused[0].Err)
			}
		})
	}
}

// TestMistakesOfOne checks that all mistakes in one workload are reported even if there are many
// unrelated workloads.
func TestMistakesOfOne(t *testing.T) {
	t.Parallel()
	mistakes := many(200, func(i int) string { return fmt.Sprintf("      f%d: 1\n", i) })
	m, set := clusterOf(t, 3, deployment(0, 1, "")+many(4000, func(i int) string { return deployment(1+i, 1, "") })+deployment(4001, 1, mistakes))
	if got := len(derive.Facts(derive.Input{Model: m, Set: set}).UnknownFields); got != 200 {
		t.Errorf("%d of 200 mistakes are told", got)
	}
}

// TestBudgetIsOnesOwn checks that questions about a group are given up at the same point regardless
// of workloads that share no rule and no node with the group.
func TestBudgetIsOnesOwn(t *testing.T) {
	t.Parallel()
	group := many(12, func(i int) string {
		return strings.ReplaceAll(deployment(i, 1, apart("kubernetes.io/hostname", fmt.Sprintf("{matchExpressions: [{key: app, operator: In, values: [d%d]}]}", (i+1)%12))), "---\n", "      nodeSelector: {row: q0}\n---\n")
	})
	other := func(n int) string {
		return many(n, func(i int) string {
			return strings.ReplaceAll(deployment(100+i, 2, ""), "---\n", "      nodeSelector: {row: q1}\n---\n")
		})
	}
	answers := func(text string, factor float64) string {
		m, set := clusterOf(t, 20, text)
		m.Scale(factor, 1)
		f := derive.Facts(derive.Input{
			Model: m, Set: set, Whole: func(string) bool { return true },
			Decision: func() *certificate.Decision { return search.Decide(m, search.Options{Each: true}) },
		})
		var b strings.Builder
		for _, r := range f.Rollouts {
			if name, _ := strings.CutPrefix(f.Ref(r.W), "Deployment d"); len(name) < 3 {
				fmt.Fprintln(&b, f.Ref(r.W), r.Outcome)
			}
		}
		for _, o := range f.Orders {
			fmt.Fprintln(&b, f.Ref(o.W), o.Pending)
		}
		return b.String()
	}
	whole := answers(group, 1)
	for _, factor := range trials.Sample(t, []float64{0.0001, 0.001, 0.01}, 1) {
		alone := answers(group, factor)
		if factor < 0.001 && alone == whole {
			t.Errorf("nothing is given up with factor %v, so this shows nothing", factor)
		}
		for _, n := range []int{1, 8} {
			if got := answers(group+other(n), factor); got != alone {
				t.Errorf("factor %v: beside %d unrelated workloads\n%s\nalone\n%s", factor, n, got, alone)
			}
		}
	}
}
