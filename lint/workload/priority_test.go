package workload

import (
	"cmp"
	"testing"
)

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

// TestPriorityOfClass checks which pods contradict their PriorityClass, and when it is not known whether
// they do (R-P14). The oracle compares the answers with the admission plugin.
func TestPriorityOfClass(t *testing.T) {
	t.Parallel()
	class := func(fields string) string {
		return "\n---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, " + fields + "}"
	}
	const none = "a pod without a PriorityClass has "
	for _, c := range []struct{ pod, declared, want, complete string }{
		{"hostNetwork: false", "", "", ""},
		{"priority: 0, preemptionPolicy: PreemptLowerPriority", "", "", ""},
		{"priority: 5", "", "? priority is 5, but " + none + "0", "priority is 5, but " + none + "0"},
		{"preemptionPolicy: Never", "", "? preemptionPolicy is \"Never\", but " + none + "PreemptLowerPriority", "preemptionPolicy is \"Never\", but " + none + "PreemptLowerPriority"},
		{"preemptionPolicy: Never", class("value: 5, preemptionPolicy: Never, globalDefault: true"), "", ""},
		{"preemptionPolicy: Never", class("value: 5, globalDefault: true"), "preemptionPolicy is \"Never\", but PriorityClass high has PreemptLowerPriority", ""},
		{"preemptionPolicy: Never", class("value: 5, globalDefault: '${DEFAULT}'"), "", ""},
		{"priorityClassName: high, priority: 5", class("value: 5"), "", ""},
		{"priorityClassName: high, priority: 6", class("value: 5"), "priority is 6, but PriorityClass high has 5", ""},
		{"priorityClassName: high, priority: 6", class("value: 5") + class("value: 6"), "", ""},
		{"priorityClassName: high, priority: 6", class("value: '${VALUE}'"), "", ""},
		{"priorityClassName: high, preemptionPolicy: Never", class("value: 5, preemptionPolicy: '${POLICY}'"), "", ""},
		{"priorityClassName: high, priority: '${VALUE}'", class("value: 5"), "", ""},
		{"priorityClassName: high, preemptionPolicy: Never", "", "", "no PriorityClass with the name high exists"},
		{"priorityClassName: system-node-critical, priority: 2000001000", "", "", ""},
		{"priorityClassName: system-node-critical, priority: 2000000000", "", "priority is 2000000000, but PriorityClass system-node-critical has 2000001000", ""},
	} {
		for _, complete := range []bool{false, true} {
			manifest := "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {" + c.pod + ", containers: [{name: c, image: c}]}}" + c.declared
			w := loadWith(t, manifest, func(r *Reader) { r.AllPriorities = complete })[0]
			got, want := "", c.want
			if complete {
				want = cmp.Or(c.complete, c.want)
			}
			for _, p := range w.Problems {
				got = p.Message
			}
			for _, p := range w.Gated {
				if got = "? " + p.Message; w.Admission != "the plugin Priority" {
					t.Errorf("%s: may be rejected by %q", manifest, w.Admission)
				}
			}
			if got != want {
				t.Errorf("%s, complete: %v: %s, want %s", manifest, complete, got, want)
			}
		}
	}
	if w := load(t, "{apiVersion: v1, kind: Pod, metadata: {name: web, uid: a}, spec: {priority: 5, containers: [{name: c, image: c}]}}")[0]; len(w.Gated) > 0 || w.Admission != "" {
		t.Error("a pod that has been admitted")
	}
}
