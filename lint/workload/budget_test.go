package workload

import (
	"fmt"
	"strings"
	"testing"
)

func disruption(version, meta, spec string) string {
	return "apiVersion: policy/" + version + "\nkind: PodDisruptionBudget\nmetadata: {" + meta + "}\nspec: {" + spec + "}\n"
}

// TestBudgetAllows checks how many healthy pods a budget allows to evict, out of 1, 2, 3 and 10
// pods (R-W19).
func TestBudgetAllows(t *testing.T) {
	for _, row := range []struct{ spec, want, of3 string }{
		{"minAvailable: 2", "0 0 1 8", "minAvailable 2: 2"},
		{"minAvailable: 0", "1 2 3 10", "minAvailable 0: 0"},
		{"minAvailable: 50%", "0 1 1 5", "minAvailable 50%: 2"},
		{"minAvailable: 100%", "0 0 0 0", "minAvailable 100%: 3"},
		{"minAvailable: 0%", "1 2 3 10", "minAvailable 0%: 0"},
		{"maxUnavailable: 0", "0 0 0 0", "maxUnavailable 0: 0"},
		{"maxUnavailable: 1", "1 1 1 1", "maxUnavailable 1: 1"},
		{"maxUnavailable: 5", "1 2 3 5", "maxUnavailable 5: 5"},
		{"maxUnavailable: 25%", "1 1 1 3", "maxUnavailable 25%: 1"},
		{"maxUnavailable: 100%", "1 2 3 10", "maxUnavailable 100%: 3"},
		{"unhealthyPodEvictionPolicy: AlwaysAllow", "0 0 0 0", ""},
	} {
		b := loadSet(t, disruption("v1", "name: b", "selector: {matchLabels: {app: a}}, "+row.spec)).Budgets[0]
		var got []string
		for _, n := range []int{1, 2, 3, 10} {
			allowed, _ := b.Allowed(n)
			got = append(got, fmt.Sprint(allowed))
		}
		_, by := b.Allowed(3)
		text := figures(Arithmetic{Surge: by})
		if strings.Join(got, " ") != row.want || text != row.of3 || b.Unknown != "" {
			t.Errorf("%s: got %s, %s %s; want %s, %s", row.spec, strings.Join(got, " "), text, b.Unknown, row.want, row.of3)
		}
	}
}

// TestBudgetSelects checks which pods a budget selects, and the location of its selector.
func TestBudgetSelects(t *testing.T) {
	for _, row := range []struct {
		version, selector string
		yes               bool
		at                string
	}{
		{"v1", "{matchLabels: {app: a}}", true, "app: a"},
		{"v1", "{matchLabels: {app: b}}", false, "app: b"},
		{"v1", "{matchLabels: {app: a, tier: front}}", true, "selector"},
		{"v1", "{matchLabels: {app: a, tier: back}}", false, "selector"},
		{"v1", "{matchExpressions: [{key: app, operator: In, values: [a, b]}]}", true, "selector"},
		{"v1", "{matchExpressions: [{key: app, operator: DoesNotExist}]}", false, "selector"},
		{"v1", "{}", true, "selector"},
		{"v1beta1", "{}", false, "selector"},
		{"v1beta1", "{matchLabels: {}}", false, "selector"},
		{"v1beta1", "{matchLabels: {app: a}}", true, "app: a"},
	} {
		b := loadSet(t, disruption(row.version, "name: b", "selector: "+row.selector)).Budgets[0]
		yes := b.Matches(map[string]string{"app": "a", "tier": "front"})
		at := b.SelectorSpan()
		got := b.Object.File.Line(at.Line)[at.Column-1 : at.EndColumn-1]
		if yes != row.yes || got != row.at || b.Unknown != "" {
			t.Errorf("%s %s: got %t at %s %s", row.version, row.selector, yes, got, b.Unknown)
		}
	}
}

// TestBudgetSpan checks that the location is that of the number, or that of the name if no number
// is set.
func TestBudgetSpan(t *testing.T) {
	for spec, want := range map[string]string{
		"minAvailable: 1":                       "minAvailable: 1",
		"maxUnavailable: 1":                     "maxUnavailable: 1",
		"minAvailable: null, maxUnavailable: 1": "maxUnavailable: 1",
		"minAvailable: null":                    "name: b",
	} {
		b := loadSet(t, disruption("v1", "name: b", "selector: {}, "+spec)).Budgets[0]
		at := b.Span()
		if got := b.Object.File.Line(at.Line)[at.Column-1 : at.EndColumn-1]; got != want {
			t.Errorf("%s: points at %s, want %s", spec, got, want)
		}
	}
}

// TestBudgetUnknown covers budgets that cannot be judged.
func TestBudgetUnknown(t *testing.T) {
	for spec, want := range map[string]string{
		"selector: {matchLabels: {app: '${A}'}}":                                     "selector holds the placeholder ${A}",
		"selector: {matchLabels: {'{{ k }}': a}}":                                    "selector holds the placeholder {{ k }}",
		"selector: {matchExpressions: [{key: app, operator: In, values: ['$(A)']}]}": "selector holds the placeholder $(A)",
		"selector: {matchExpressions: [{key: app, operator: Near}]}":                 "the API server refuses its selector",
		"selector: app":                                       "selector is no map",
		"selector: {matchLabels: {app: 1}}":                   "selector.matchLabels.app is no string",
		"selector: {}, minAvailable: '${N}'":                  "minAvailable is the placeholder ${N}",
		"selector: {}, minAvailable: [1]":                     "minAvailable is no int or string",
		"selector: {}, minAvailable: '1'":                     "minAvailable is 1, which the API server refuses",
		"selector: {}, minAvailable: -1":                      "minAvailable is -1, which the API server refuses",
		"selector: {}, maxUnavailable: 120%":                  "maxUnavailable is 120%, which the API server refuses",
		"selector: {}, maxUnavailable: 1, minAvailable: 1":    "minAvailable and maxUnavailable are both set, which the API server refuses",
		"selector: {}, maxUnavailable: 1, minAvailable: null": "",
		"selector: {}, maxUnavailable: 1, maxunavailable: 2, unhealthyPodEvictionPolicy: null": "",
	} {
		b := loadSet(t, disruption("v1", "name: b", spec)).Budgets[0]
		b.Matches(nil)
		b.Allowed(3)
		if b.Unknown != want {
			t.Errorf("%s: got %q, want %q", spec, b.Unknown, want)
		}
	}
}

// TestBudgets checks that each budget is listed once and that a budget without a selector is a
// patch.
func TestBudgets(t *testing.T) {
	set := loadSet(t, docs(
		disruption("v1", "name: a", "selector: {}, minAvailable: 1"),
		disruption("v1", "name: b", "selector: {}"),
		disruption("v1", "name: b", "selector: {}"),
		disruption("v1", "name: a", "minAvailable: 3"),
		disruption("v1beta1", "name: a", "selector: {}, minAvailable: 2"),
		disruption("v1", "name: a, namespace: n", "selector: {}"),
		disruption("v1", "generateName: a", "selector: {}"),
		disruption("v1", "generateName: a", "selector: {}"),
		"apiVersion: example.com/v1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec: {selector: {}}\n",
	))
	var got []string
	for _, b := range set.Budgets {
		word := fmt.Sprintf("%s/%s:%d", b.Object.Namespace, b.Object.Name, b.Object.Root.Line)
		if b.Repeated {
			word += "*"
		}
		got = append(got, word)
	}
	if want := "/b:11 /a:21* n/a:26 /a:31 /a:36"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
	if want := "strategic-merge patch 16, 8 others"; summary(set) != want {
		t.Errorf("got %s, want %s", summary(set), want)
	}
}
