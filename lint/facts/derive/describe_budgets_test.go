package derive_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// guarded returns the facts about a Deployment with three pods, and about a budget. With elsewhere,
// it is unknown whether the cluster has the budget.
func guarded(t *testing.T, namespace, labels, budget string, elsewhere bool) *facts.Facts {
	t.Helper()
	objects := models.Objects(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web`+namespace+`}
spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: `+labels+`}, spec: {containers: [{name: c, image: c}]}}}
`)
	budgets := models.Objects(t, "apiVersion: policy/v1\nkind: PodDisruptionBudget\n"+budget)
	if !elsewhere {
		objects, budgets = append(objects, budgets...), nil
	}
	set := workload.NewReader(workload.NewTable()).Load(objects, budgets)
	m := sched.New(set, &topology.Topology{})
	m.Scale(1, 1)
	return derive.Facts(derive.Input{Model: m, Set: set, Whole: func(string) bool { return true }}).Facts
}

// TestBudgetsThatMaySelect checks that a budget is listed if it may select the pods, and whether it
// is known to select them.
func TestBudgetsThatMaySelect(t *testing.T) {
	t.Parallel()
	const shop, plain = ", namespace: shop", "{app: web}"
	home := "metadata: {name: b, namespace: shop}\n"
	for name, c := range map[string]struct {
		namespace, labels, budget string
		elsewhere                 bool
		want                      string // selects, allowed_min and allowed_max of the budget
	}{
		"selects":               {shop, plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", false, "always 1 1"},
		"other labels":          {shop, plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: api}}}", false, ""},
		"other namespace":       {shop, plain, "metadata: {name: b, namespace: data}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", false, ""},
		"open selector":         {shop, plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: '${APP}'}}}", false, "unknown 0 -"},
		"selector of no type":   {shop, plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: web}}", false, "unknown 0 -"},
		"open number":           {shop, plain, home + "spec: {maxUnavailable: '${N}', selector: {matchLabels: {app: web}}}", false, "always 0 -"},
		"open number of others": {shop, plain, home + "spec: {maxUnavailable: '${N}', selector: {matchLabels: {app: api}}}", false, ""},
		"open label":            {shop, "{app: '${APP}'}", home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", false, "unknown 0 -"},
		"another open label":    {shop, "{app: web, x: '${X}'}", home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: api}}}", false, ""},
		"open key":              {shop, "{'${KEY}': web}", home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", false, "unknown 0 -"},
		"open labels":           {shop, "'${LABELS}'", home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", false, "unknown 0 -"},
		"namespace left open":   {shop, plain, "metadata: {name: b}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", false, "unknown 0 -"},
		"open namespace":        {", namespace: '${NS}'", plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", false, "unknown 0 -"},
		"open, other labels":    {", namespace: '${NS}'", plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: api}}}", false, ""},
		"elsewhere":             {shop, plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}", true, "unknown 0 -"},
		"others elsewhere":      {shop, plain, home + "spec: {maxUnavailable: 1, selector: {matchLabels: {app: api}}}", true, ""},
		"patch elsewhere":       {shop, plain, home + "spec: {maxUnavailable: 1}", true, ""},
		"no selector":           {shop, plain, home + "spec: {maxUnavailable: 1}", false, ""},
		"empty selector":        {shop, plain, home + "spec: {maxUnavailable: 1, selector: {}}", false, "always 1 1"},
	} {
		f := guarded(t, c.namespace, c.labels, c.budget, c.elsewhere)
		got := ""
		if len(f.Workloads[0].Budgets) > 0 {
			const b = "workloads name=web budgets name=b "
			got = strings.Join([]string{strings.Trim(at(t, f, b+"selects"), `"`), at(t, f, b+"allowed_min"), strings.Replace(at(t, f, b+"allowed_max"), "2147483647", "-", 1)}, " ")
		}
		if got != c.want || len(f.Workloads[0].Budgets) > 1 {
			t.Errorf("%s: %d budgets, %q, want %q", name, len(f.Workloads[0].Budgets), got, c.want)
		}
	}
}

// TestBudgetOfSomePods checks that a budget which selects some pods of a StatefulSet says so, and that
// an empty selector selects all pods in policy/v1 and none in policy/v1beta1.
func TestBudgetOfSomePods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ version, selector, want string }{
		{"v1", "{matchLabels: {app: db}}", `"always"`},
		{"v1", "{matchLabels: {apps.kubernetes.io/pod-index: '0'}}", `"sometimes"`},
		{"v1", "{}", `"always"`},
		{"v1beta1", "{}", "no name=b"},
		{"v1beta1", "{matchLabels: {app: db}}", `"always"`},
	} {
		f := described(t, threeZones, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec: {replicas: 3, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: c}]}}}
---
apiVersion: policy/`+c.version+`
kind: PodDisruptionBudget
metadata: {name: b, namespace: shop}
spec: {maxUnavailable: 1, selector: `+c.selector+`}
`).Facts
		if got := at(t, f, "workloads name=db budgets name=b selects"); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.version, c.selector, got, c.want)
		}
	}
}
