package message

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/workload"
)

// Texts at related locations of findings about changes.
const (
	OfAnother     = "this term belongs to another workload"
	EvictionWaits = "eviction is refused until the machine has migrated"
)

// NoFurtherDisruptions describes a budget after a drain.
func NoFurtherDisruptions(budget string) string { return budget + " allows no further disruptions" }

// AlsoSelects is shown at a second budget for the pods of a workload.
func AlsoSelects(budget string, w *workload.Workload) string {
	return fmt.Sprintf("%s also selects pods of %s", budget, w)
}

// IsScaled is shown at the target of an autoscaler.
func IsScaled(w *workload.Workload) string { return w.String() + " is scaled" }

// SelectsLabel is shown at a term that asks for a label.
func SelectsLabel(asker, label string) string { return fmt.Sprintf("%s selects %s", asker, label) }

// ScalesOnceGrown is a note on an autoscaler whose maximum fits once a pool has grown.
func ScalesOnceGrown(w *workload.Workload, pool string, nodes int) string {
	return fmt.Sprintf("%s can scale to %s by %s %s: they fit once pool %s has %s",
		w, plural(w.Scale.Max, "replica"), w.Scale.Kind, w.Scale.Object.Name, pool, plural(nodes, "node"))
}
