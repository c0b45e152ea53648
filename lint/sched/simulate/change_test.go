package simulate

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// TestChangesAreIndependent checks that what is said of a change does not depend on the other changes,
// nor on workloads that use other nodes.
func TestChangesAreIndependent(t *testing.T) {
	const hdd = "nodeSelector: {disk: hdd}, containers: [{name: c, image: c, resources: {requests: {cpu: "
	with := func(more string, keys ...string) *Change {
		m, _ := models.Of(t, nodes("a disk: hdd", "b disk: hdd", "c disk: hdd", "d disk: ssd"), deployment("web", 6, hdd+"1}}}]")+deployment("db", 1, hdd+"3}}}]")+more)
		var all []*Change
		for _, w := range m.Workloads {
			for _, key := range keys {
				all = append(all, &Change{Workload: w, Key: key, Meaning: certificate.Drained})
			}
		}
		Changes(m, all, 100)
		for _, x := range all {
			if strings.Contains(x.Workload.String(), "web") && x.Key == keys[0] {
				return x
			}
		}
		return nil
	}
	const host, rack = "kubernetes.io/hostname", "rack"
	alone := with("", host)
	if alone.Runs < MinRuns || alone.Shown == 0 || alone.Shown == alone.Runs {
		t.Fatalf("too little to compare: %+v", alone)
	}
	for name, x := range map[string]*Change{
		"another change":       with("", host, rack),
		"a workload elsewhere": with(deployment("far", 5, "nodeSelector: {disk: ssd}"), host),
	} {
		if x.Runs != alone.Runs || x.Shown != alone.Shown {
			t.Errorf("%s: %d of %d runs, want %d of %d", name, x.Shown, x.Runs, alone.Shown, alone.Runs)
		}
	}
}
