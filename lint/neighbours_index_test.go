package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/neighbours"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

func read(table workload.Table, text string) []*source.Object {
	return source.LoadText(source.Options{Keep: table.Relevant, Drop: workload.Unread}, "a.yaml", []byte(text)).Objects
}

func pod(name, namespace, labels string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s, labels: {%s}}\nspec: {containers: [{name: a, image: a}]}\n", name, namespace, labels)
}

// asking returns a Pod in namespace shop with a pod affinity term.
func asking(term string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: self, namespace: shop, labels: {app: self}}\n" +
		"spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, " + term + "}]}}}\n"
}

// TestOf checks that the index returns every object that a selector may find, and no object
// that it is known not to find.
func TestOf(t *testing.T) {
	table := workload.NewTable()
	others := read(table, pod("web", "shop", "app: web")+
		pod("db", "shop", "app: db, tier: back")+
		pod("late", "shop", "app: '${APP}'")+
		pod("far", "bank", "app: web")+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: none, namespace: shop, labels: {app: web}}\n"+
		"---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: set, namespace: shop}\nspec: {selector: {matchLabels: {app: set}}, template: {metadata: {labels: {app: set}}}}\n")
	for _, test := range []struct{ name, term, want string }{
		{"one label", "labelSelector: {matchLabels: {app: web}}", "web late"},
		{"a value that a later tool sets", "labelSelector: {matchLabels: {app: other}}", "late"},
		{"first of two labels", "labelSelector: {matchLabels: {tier: back, app: db}}", "db"},
		{"several values", "labelSelector: {matchExpressions: [{key: app, operator: In, values: [web, db]}]}", "web db late"},
		{"a label of the controller", "labelSelector: {matchLabels: {statefulset.kubernetes.io/pod-name: set-0}}", "set"},
		{"any value", "labelSelector: {matchExpressions: [{key: app, operator: Exists}]}", "web db late set self"},
		{"a selector of a later tool", "labelSelector: {matchLabels: {app: '${APP}'}}", "web db late set self"},
		{"other namespaces", "namespaces: [bank], labelSelector: {matchLabels: {app: web}}", "web late far"},
		{"no selector", "namespaces: []", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			part := read(table, asking(test.term))
			beside := read(table, asking(test.term)) // an equal but distinct object
			var got []string
			for _, o := range neighbours.New(table, others, part, beside).Of(part) {
				if slices.Contains(part, o) {
					t.Errorf("%s is of the part itself", o.Name)
				}
				got = append(got, o.Name)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%q, want %q", strings.Join(got, " "), test.want)
			}
		})
	}
}
