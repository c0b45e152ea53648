package message

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Titles of the runs about all workloads.
const (
	RunPlacesAll  = "A placement of all pods"
	RunPlacesMost = "A placement of as many pods as possible"
	RunGetsStuck  = "A scheduling order that gets stuck"
)

// Reasons why runs are missing from a picture.
const (
	PictureSteps    = "some runs are not shown: replaying them takes more steps than --steps allows"
	PictureUndrawn  = "some runs about rollouts, drains and losses are not shown: the decision rests on no single run there"
	PictureTooLarge = "runs about rollouts, drains and losses are not shown: this cluster has more than %d pods"
	PictureFirst    = "drains and losses after which all pods run again are shown for at most %d nodes and %[1]d zones"
	PictureNone     = "no run is shown: no placement on the declared nodes is known"
)

// RunUndecided is the note of a run that places pods although it is not known whether all of them fit.
const RunUndecided = "The run is an example. Whether the pods fit in every order is not known."

// NotModeled states that runs lack the pods of so many workloads.
func NotModeled(workloads int) string {
	return plural(workloads, "workload") + " not modeled (see the notes) " + verb(workloads, "is", "are") + " in no run, and may need the same room"
}

// PictureGrowth states that runs use no nodes that pools may add. It returns "" if no pool can grow.
func PictureGrowth(all []topology.Growth) string {
	var pools []string
	for _, g := range all {
		if name := g.Node.Pool.Name; !slices.Contains(pools, name) {
			pools = append(pools, name)
		}
	}
	if len(pools) == 0 {
		return ""
	}
	return "nodes that " + plural(len(pools), "pool") + " may add are in no run: " + strings.Join(pools, ", ")
}

// MoreRuns states that a picture shows only the first runs.
func MoreRuns(more, shown int) string {
	return fmt.Sprintf("%s not shown: at most %d about rollouts, drains and losses are", plural(more, "more run")+" "+verb(more, "is", "are"), shown)
}

// RolloutStuck is the title of a rollout that gets stuck.
func RolloutStuck(w *workload.Workload) string { return "Rollout of " + w.String() + " gets stuck" }

// LossLeaves is the title of a run in which pods of w stay Pending after a domain is lost or drained.
func LossLeaves(w *workload.Workload, meaning certificate.Meaning, key, value string, pending int) string {
	return fmt.Sprintf("%s leaves %s of %s Pending", lossOf(meaning, key, value), plural(pending, "pod"), w)
}

// LossPlaces is the title of a run in which all pods find a node again after a domain is lost or
// drained.
func LossPlaces(meaning certificate.Meaning, key, value string) string {
	return lossOf(meaning, key, value) + ": in one order, all evicted pods run again"
}

// lossOf describes a loss. The value of the hostname key is the name of the node.
func lossOf(meaning certificate.Meaning, key, value string) string {
	what := key + "=" + value
	switch key {
	case corev1.LabelHostname:
		what = "node " + value
	case corev1.LabelTopologyZone:
		what = "zone " + value
	}
	switch meaning {
	case certificate.Drained:
		return "Drain of " + what
	case certificate.Unreachable:
		return "Loss of " + what + " (unreachable)"
	}
	return "Loss of " + what + " (gone)"
}
