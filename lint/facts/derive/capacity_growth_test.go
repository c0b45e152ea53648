package derive_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/lint/facts"
)

// TestCapacityAtMost checks the capacity of pools at their largest size.
func TestCapacityAtMost(t *testing.T) {
	t.Parallel()
	f := described(t, threeZones, shop).Facts
	for _, c := range []struct{ path, want string }{
		{"scope=cluster,resource=cpu allocatable_max", `58000`},
		{"scope=cluster,resource=cpu percent_grown_min", `7`},
		{"scope=cluster,resource=cpu percent_grown_max", `9007199254740991`},
		{"scope=pool,name=general,resource=cpu allocatable_max", `24000`},
		{"scope=pool,name=gpu,resource=cpu allocatable_max", `32000`},
		{"scope=pool,name=gpu,resource=cpu percent_min", `1`},
		{"scope=pool,name=gpu,resource=cpu percent_grown_min", `7`},
		{"scope=zone,name=a,resource=cpu allocatable_max", `32000`},
		{"scope=cluster,resource=cpu losses key=topology.kubernetes.io/zone,value=a left", `26000`},
		{"scope=cluster,resource=cpu losses key=topology.kubernetes.io/zone,value=a left_max", `42000`},
		{"scope=pool,name=gpu,resource=cpu losses value=gpu-a-0 left_max", `24000`},
		{"scope=pool,name=gpu,resource=cpu losses value=gpu-a-0 percent_grown_min", `9`},
	} {
		if got := at(t, f, "capacity "+c.path); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

// TestGrownPoolIsLargePool checks that a pool at its largest size equals a pool of that size, and
// that a pool that cannot grow has one size.
func TestGrownPoolIsLargePool(t *testing.T) {
	t.Parallel()
	rows := func(size string) map[string]facts.Capacity {
		nodes := "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: fixed, count: 2, allocatable: {cpu: '2', memory: 4Gi}}\n- {name: gpu, labels: {tier: gpu, app: x}, allocatable: {cpu: '8', memory: 8Gi}, " + size + "}\n"
		all := map[string]facts.Capacity{}
		for _, row := range described(t, nodes, shop).Facts.Capacity {
			all[fmt.Sprint(row.Scope, row.Name, row.Resource)] = row
		}
		return all
	}
	large := rows("count: 5")
	for _, size := range []string{"count: 2, max: 5", "count: 0, max: 5", "count: 5, max: 5"} {
		grown := rows(size)
		if len(grown) != len(large) {
			t.Errorf("%s: %d rows, want %d", size, len(grown), len(large))
		}
		for name, want := range large {
			got := grown[name]
			if want.AllocatableMax != want.Allocatable || want.PercentGrownMin != want.PercentMin || want.PercentGrownMax != want.PercentMax {
				t.Errorf("%s grows: %+v", name, want)
			}
			if got.AllocatableMax != want.Allocatable || got.PercentGrownMin != want.PercentMin || got.PercentGrownMax != want.PercentMax {
				t.Errorf("%s: %s\n%+v\nwant the numbers of\n%+v", size, name, got, want)
			}
			for i, loss := range want.Losses {
				if loss.LeftMax != loss.Left || loss.PercentGrownMin != loss.PercentMin || loss.PercentGrownMax != loss.PercentMax {
					t.Errorf("%s grows after a loss: %+v", name, loss)
				}
				if i < len(got.Losses) && got.Losses[i].Value == loss.Value && got.Losses[i].PercentGrownMin != loss.PercentMin {
					t.Errorf("%s: %s\n%+v\nwant the numbers of\n%+v", size, name, got.Losses[i], loss)
				}
			}
		}
	}
}
