package lint

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// defaultLosses returns the topology keys that Facts always asks about, and Place if no others
// are named.
func defaultLosses() []string {
	return []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
}

// lossesToSurvive returns a function that lists the topology keys whose loss a workload must survive:
// those in always and those that the configuration requires.
func lossesToSurvive(c *config.Config, always []string) func(*workload.Workload) []string {
	return func(w *workload.Workload) []string {
		keys := slices.Concat(always, c.Asks(w.Namespace(), w.Labels))
		slices.Sort(keys)
		return slices.Compact(keys)
	}
}

// unknownLosses returns notes on requested keys that no node has. Otherwise the loss of a
// misspelt key would appear to do no harm.
func unknownLosses(o *Options, topo *topology.Topology) []string {
	if topo.Empty() {
		return nil
	}
	keys := slices.Clone(o.Survive)
	for _, s := range o.Config.Survive {
		for _, word := range s.Keys {
			if key, err := config.TopologyKey(word); err == nil {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	labels := topo.AllNodeLabels()
	var notes []string
	for _, key := range slices.Compact(keys) {
		if slices.ContainsFunc(labels, func(of map[string]string) bool { _, has := of[key]; return has }) {
			continue
		}
		note := fmt.Sprintf("no declared node has the label %s, so its loss is not checked", key)
		if near := config.NearDomain(key); near != "" {
			note += " (did you mean " + near + "?)"
		}
		notes = append(notes, note)
	}
	return notes
}
