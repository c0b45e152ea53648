package search_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestSizes checks how many additional sizes must be decided to cover all sizes.
func TestSizes(t *testing.T) {
	const (
		cloned = "- {name: a, zones: {x: 2, y: 2}, max: 9}\n"
		fresh  = "- {name: b, zones: {z: 0}, max: 3}\n"
		joins  = "- {name: b, zones: {x: 0}, max: 3}\n"
		other  = "- {name: b, zones: {z: 0}, max: 3, taints: [{key: k, effect: NoSchedule}]}\n"
	)
	anti := func(key string) string {
		return fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: web}}}]}}", key)
	}
	spread := func(key, more string) string {
		return fmt.Sprintf("topologySpreadConstraints: [{topologyKey: %s, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}%s}]", key, more)
	}
	near := "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}]}}"
	for _, c := range []struct {
		name, pools, spec string
		sizes             int
		known             bool
	}{
		{"no rule", cloned + fresh, "", 0, true},
		{"by node", cloned + joins, anti(hostKey), 0, true},
		{"by zone, nodes like declared ones", cloned, anti(zoneKey), 0, true},
		{"by zone, a zone of its own", cloned + fresh, anti(zoneKey), 0, true},
		{"by zone, other nodes in a zone", cloned + joins, anti(zoneKey), 1, true},
		{"by zone, nodes that take no pod", cloned + other, anti(zoneKey), 0, true},
		{"spread, nodes like declared ones", cloned, spread(zoneKey, ""), 0, true},
		{"spread, a zone of its own", cloned + fresh, spread(zoneKey, ""), 1, true},
		{"spread, a zone that takes no pod and counts", cloned + other, spread(zoneKey, ""), 1, true},
		{"spread, one that does not count", "- {name: a, zones: {x: 2}}\n" + other, spread(zoneKey, ", nodeTaintsPolicy: Honor"), 0, true},
		{"near, few sizes", "- {name: a, zones: {x: 2}}\n" + fresh, near, 3, true},
		{"near, too many", cloned + fresh, near, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := modelOf(t, "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"+c.pools, requesting("web", 2, "cpu: 1", c.spec))
			if s := search.SizesOf(m, m.Workloads, 0); len(s.All) != c.sizes || s.Known != c.known {
				t.Errorf("%d sizes, known %t; want %d, %t", len(s.All), s.Known, c.sizes, c.known)
			}
		})
	}
}
