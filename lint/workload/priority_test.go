package workload

import "testing"

// TestMisspeltClass checks which names of PriorityClasses count as misspelt (R-P14).
func TestMisspeltClass(t *testing.T) {
	t.Parallel()
	class := func(name string) string {
		return "\n---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: '" + name + "'}, value: 1}"
	}
	for _, c := range []struct{ used, declared, want string }{
		{"system-node-critcal", "", "system-node-critical"},
		{"sytem-cluster-critcal", "", "system-cluster-critical"},
		{"system-node-critical", "", ""},
		{"business", class("bussines"), "bussines"},
		{"business", class("busy"), ""},
		{"golden", class("gold"), ""},
		{"golde", class("gold"), "gold"},
		{"low", class("lo"), ""},
		{"tier-1", class("tier-2"), ""},
		{"business", class("bussines") + class("business"), ""},
		{"business", class("bussines") + class("${NAME}"), ""},
		{"${NAME}", class("NAME"), ""},
	} {
		w := load(t, "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {priorityClassName: '"+c.used+"', containers: [{name: c, image: c}]}}"+c.declared)[0]
		got := ""
		for _, p := range w.Gated {
			got = p.Fix
		}
		if c.want != "" {
			c.want = "write priorityClassName: " + c.want
		}
		if got != c.want || w.Refused() {
			t.Errorf("%s with%s: %q, want %q", c.used, c.declared, got, c.want)
		}
	}
}
