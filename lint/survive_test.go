package lint

import (
	"slices"
	"testing"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestAsks checks that the keys of the flags apply to every workload, and those of the
// configuration to the workloads that it selects.
func TestAsks(t *testing.T) {
	c := &config.Config{Survive: []config.Survive{
		{Keys: []string{"zone", "node"}, Namespaces: []string{"prod-*"}},
		{Keys: []string{"region"}, Labels: map[string]string{"tier": "critical"}},
	}}
	always := []string{"rack", "kubernetes.io/hostname"}
	ask := lossesToSurvive(c, always)
	for _, test := range []struct {
		namespace, tier string
		want            []string
	}{
		{"shop", "", []string{"kubernetes.io/hostname", "rack"}},
		{"prod-1", "", []string{"kubernetes.io/hostname", "rack", "topology.kubernetes.io/zone"}},
		{"prod-1", "critical", []string{"kubernetes.io/hostname", "rack", "topology.kubernetes.io/region", "topology.kubernetes.io/zone"}},
		{"", "critical", []string{"kubernetes.io/hostname", "rack", "topology.kubernetes.io/region"}},
	} {
		w := &workload.Workload{Object: &source.Object{Namespace: test.namespace}, Labels: map[string]string{"tier": test.tier}}
		if got := ask(w); !slices.Equal(got, test.want) {
			t.Errorf("%q %q: %v, want %v", test.namespace, test.tier, got, test.want)
		}
	}
	if got := lossesToSurvive(&config.Config{}, nil)(&workload.Workload{Object: &source.Object{}}); len(got) > 0 {
		t.Errorf("nobody asks: %v", got)
	}
	if !slices.Equal(always, []string{"rack", "kubernetes.io/hostname"}) {
		t.Errorf("asking changed the options to %v", always)
	}
}
