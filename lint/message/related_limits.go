package message

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/workload"
)

// Related locations without parameters.
const (
	AlsoApart   = "this term also keeps the pods apart"
	NotEnforced = "preferred rules are not enforced"
)

// ToSchedule is shown at the number of pods of a workload that does not fit.
func ToSchedule(pods int) string { return plural(pods, "pod") + " to schedule" }

// PodsOf is shown at the number of pods of one of several workloads.
func PodsOf(pods int, w *workload.Workload) string {
	return fmt.Sprintf("%s of %s", plural(pods, "pod"), w)
}

// AlsoPending is shown at the number of pods of another workload whose pods stay Pending.
func AlsoPending(pods int, w *workload.Workload) string {
	return PodsOf(pods, w) + " also stay Pending"
}

// MinDomainsRequires compares minDomains with the number of existing domains.
func MinDomainsRequires(minDomains, domains int) string {
	return fmt.Sprintf("minDomains requires %s, eligible nodes have %d", plural(minDomains, "domain"), domains)
}

// MostOfAll is shown at the node that has most of a resource.
func MostOfAll(node, largest string, resource corev1.ResourceName) string {
	return fmt.Sprintf("%s has %s %s, the most of all nodes", node, largest, resource)
}

// AlsoRequests is shown at another workload that requests a scarce resource.
func AlsoRequests(w *workload.Workload, resource corev1.ResourceName) string {
	return fmt.Sprintf("%s also requests %s", w, resource)
}

// AlsoWaits is shown at a workload that waits for others because of required affinity.
func AlsoWaits(w *workload.Workload) string { return w.String() + " waits as well" }

// ScheduledFirst is shown at a workload whose pods are placed before others.
func ScheduledFirst(w *workload.Workload, p *facts.Placed) string {
	return fmt.Sprintf("%s, scheduled first on %s", w, Places(p.On, p.Nodes))
}

// TriedWithoutRequests says how repairs of a conflict that ignores requests were tried.
const TriedWithoutRequests = "each was tried without resource requests: all pods can then be scheduled"

// IgnoresRequests is a note that a finding ignores requests, and how many pods it leaves over,
// while the table counts requests.
func IgnoresRequests(pods int) string {
	return fmt.Sprintf("the finding ignores resource requests, and at least %s %s left over without them; here they count",
		plural(pods, "pod"), verb(pods, "is", "are"))
}
