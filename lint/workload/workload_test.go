package workload

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestOperated checks in which namespaces unknown objects may create pods.
func TestOperated(t *testing.T) {
	custom := func(version, kind, meta string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {" + meta + "}\nspec: {}\n"
	}
	for _, row := range []struct{ name, text, want string }{
		{"judged", docs(manifest("name: a, namespace: n"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"), ""},
		{"known to make no pods", docs(custom("v1", "Service", "name: a, namespace: n"), custom("monitoring.coreos.com/v1", "ServiceMonitor", "name: a, namespace: n"), custom("v1", "List", "name: a")), ""},
		{"other companions", docs(disruption("v1", "name: a, namespace: n", "selector: {}"), scaledObject(", namespace: n", "name: a", ""), custom("v1", "Node", "name: a"), custom("v1", "PodTemplate", "name: a")), ""},
		{"operator", docs(custom("monitoring.coreos.com/v1", "Alertmanager", "name: a, namespace: n"), custom("monitoring.coreos.com/v1", "Prometheus", "name: b, namespace: m")), "m n"},
		{"gateway", custom("gateway.networking.k8s.io/v1", "Gateway", "name: a, namespace: n"), "n"},
		{"not judged", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: n}\nspec: {template: {spec: {containers: [{name: c}]}}}\n", "n"},
		{"no namespace", custom("example.com/v1", "Widget", "name: a"), "*"},
		{"installer", custom("argoproj.io/v1alpha1", "Application", "name: a, namespace: n"), "*"},
		{"patch", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: n}\nspec: {replicas: 2}\n", "n"},
		{"rollout without template", argo("name: r, namespace: n", toDeployment), "n"},
		{"budget of an operator", disruption("v1", "name: a, namespace: n, ownerReferences: [{kind: VirtualMachineInstance, name: v}]", "selector: {}"), "n"},
	} {
		set := loadSet(t, row.text)
		got := strings.Join(slices.Sorted(maps.Keys(set.Operated)), " ")
		if set.Operated[""] {
			got = "*"
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		for namespace, want := range map[string]bool{"n": strings.ContainsAny(row.want, "n*"), "elsewhere": row.want == "*", "": row.want != ""} {
			if got := set.Operates(namespace); got != want {
				t.Errorf("%s: in namespace %q: %t", row.name, namespace, got)
			}
		}
	}
}
