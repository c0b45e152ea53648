package message

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// AlsoToMatch is the text for the second of two conflicting required affinity terms.
const AlsoToMatch = "one pod must match this term as well"

// FirstDefined returns the text for the first of two equal keys.
func FirstDefined(key string) string { return key + " is first defined here" }

// LacksKey returns the reason why a rule does not count a node. The node lacks the topology key.
func LacksKey(key string) string { return fmt.Sprintf(exclusions[model.LacksLabel].one, key) }

// AtNode returns a statement about a node. If the node is one of several in a pool, the statement
// names the pool too.
func AtNode(n *topology.Node, what string) string {
	if n.Pool != nil && n.Pool.Count > 1 {
		return fmt.Sprintf("pool %s: %s %s", n.Pool.Name, n.Name, what)
	}
	if n.Sample() {
		return "a node of NodePool " + n.Pool.Name + " " + what
	}
	return n.Name + " " + what
}

// maxLabels is the maximum number of labels in a phrase.
const maxLabels = 4

// PodLabels returns the text for the labels of a pod template.
func PodLabels(labels []string) string {
	text := "no labels"
	if len(labels) > 0 {
		text = strings.Join(labels[:min(maxLabels, len(labels))], ",")
	}
	if len(labels) > maxLabels {
		text += ",..."
	}
	return "the pods have the labels " + text
}

// namespaces lists the namespaces that a term applies to.
func namespaces(n *facts.Namespaces) string {
	parts := append([]string(nil), n.Names...)
	switch {
	case n.All:
		parts = append(parts, "all namespaces")
	case n.Selector != "":
		parts = append(parts, "namespaces that match "+n.Selector)
	}
	return strings.Join(parts, ", ")
}

// Text for related locations in findings about changes.
const (
	OfAnother     = "this term belongs to another workload"
	EvictionWaits = "eviction is refused until the machine has migrated"
	NotShared     = "ReadWriteMany is not among the access modes"
)

// NoFurtherDisruptions describes a budget that allows no disruptions after a drain.
func NoFurtherDisruptions(budget string) string { return budget + " allows no further disruptions" }

// AlsoSelects returns the text for a second budget that selects a workload's pods.
func AlsoSelects(budget string, w *workload.Workload) string {
	return fmt.Sprintf("%s also selects pods of %s", budget, w)
}

// IsScaled returns the text for the target of an autoscaler.
func IsScaled(w *workload.Workload) string { return w.String() + " is scaled" }

// SelectsLabel returns the text for a term that selects a label.
func SelectsLabel(asker, label string) string { return fmt.Sprintf("%s selects %s", asker, label) }

// ScalesOnceGrown returns a note about an autoscaler. Its maximum number of pods fits only after a
// pool grows.
func ScalesOnceGrown(w *workload.Workload, pool string, nodes int) string {
	return fmt.Sprintf("%s can scale to %s by %s %s: they fit once pool %s has %s",
		w, plural(w.Scale.Max, "replica"), w.Scale.Kind, w.Scale.Object.Name, pool, plural(nodes, "node"))
}

// Text without parameters for related locations.
const (
	AlsoApart   = "this term also keeps the pods apart"
	NotEnforced = "preferred rules are not enforced"

	DeclaresClaim = "the claim is declared here"
	HeldClaim     = "the claim whose volume is attached"
	SameClaim     = "the same holds for this claim"
)

// MoveVolumes is advice for pods whose volumes are not where they may run.
const MoveVolumes = "create the volumes where the pods may run, or change the rules that keep the pods off their nodes"

// MakesEarly returns the text for a class that does not wait for the pods.
func MakesEarly(e *workload.Early) string {
	return "StorageClass " + e.Class.Name + " makes volumes before their pods are scheduled"
}

// DependsOnEarly says how the placement of a workload depends on where its volume is made.
func DependsOnEarly(e *certificate.Early) string {
	domain := cmp.Or(WaitsFor(e.Key), "domain")
	if len(e.Always)+len(e.Maybe)+len(e.Never) == 0 {
		return fmt.Sprintf("depends on the %ss in which StorageClass %s makes its volumes", domain, e.Class.Name)
	}
	var parts []string
	for _, x := range []struct {
		fit string
		in  []string
	}{{"its pods fit if its volume is made in", e.Always}, {"can stay Pending in", e.Maybe}, {"stay Pending in", e.Never}} {
		if len(x.in) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s", x.fit, domain, upTo(x.in, maxNamed)))
		}
	}
	return strings.Join(parts, ", ")
}

// DependsOnOrder says how the ResourceQuotas of a namespace admit all pods of a workload or only some.
func DependsOnOrder(c *workload.Contested, pods int) string {
	first := lists.Of(c.First, func(f workload.Created) string { return fmt.Sprintf("%s of %s", plural(f.Pods, "pod"), f.Workload) })
	n := workload.Amounts(workload.BaseOf(c.Name), c.Taken, c.Need, c.Hard)
	return fmt.Sprintf("depends on which pods are created first: after %s, ResourceQuota %s allows %d of %s (%s: %s + %s of %s)",
		upTo(first, maxNamed), c.Quota.Name, c.Pods, plural(pods, "pod"), c.Name, n[0], n[1], n[2])
}

// WhereverMade says that the pods of a workload never fit, whatever is chosen for their volume.
func WhereverMade(e *workload.Early) string {
	return fmt.Sprintf("in whichever %s StorageClass %s makes its volumes", cmp.Or(WaitsFor(e.Key), "domain"), e.Class.Name)
}

// WaitForConsumer is advice for pods whose volumes may be made where they cannot run.
func WaitForConsumer(e *workload.Early) string {
	return "set volumeBindingMode: WaitForFirstConsumer in StorageClass " + e.Class.Name + ", or restrict its allowedTopologies to where the pods can run"
}

// AlsoUses returns the text for another workload whose pods use the same claim.
func AlsoUses(w *workload.Workload) string { return w.String() + " uses the same claim" }

// ReachOf returns the text for a volume or class that excludes nodes.
func ReachOf(r *workload.Reach) string { return r.Source() + " restricts claim " + r.Claim }

// StaysWithVolume returns the text for a claim whose volume keeps pods where they ran first.
func StaysWithVolume(label string) string {
	return "its volume can be used only in the " + WaitsFor(label) + " where it was made"
}

// ToSchedule returns the text for the replica count of a workload that does not fit.
func ToSchedule(pods int) string { return plural(pods, "pod") + " to schedule" }

// RejectsPods returns the text for an object that makes admission reject a workload's pods.
func RejectsPods(kind, name string) string {
	if kind == "Namespace" {
		return "Namespace " + name + " enforces a Pod Security level"
	}
	return kind + " " + name + " rejects the pods"
}

// MadeBy returns the note for pods that an operator makes of a custom resource.
func MadeBy(operator string) string { return "the pods are as " + operator + " makes them" }

// QuotaAllows returns the text for a ResourceQuota that limits the pods of a workload.
func QuotaAllows(quota string, pods int) string {
	return fmt.Sprintf("%s allows at most %s", quota, plural(pods, "pod"))
}

// SetsRequests returns the text for a LimitRange that sets requests of a pod that does not fit.
func SetsRequests(name string) string {
	return "LimitRange " + name + " sets the requests of containers without them"
}

// Adds returns the text for a RuntimeClass or Namespace that adds to a pod that nodes exclude.
func Adds(o *source.Object) string {
	if o.Kind == "Namespace" {
		return "Namespace " + o.Name + " adds its node selector"
	}
	return "RuntimeClass " + o.Name + " adds its node selector and tolerations"
}

// PodsOf returns the text for the replica count of one of several workloads.
func PodsOf(pods int, w *workload.Workload) string {
	return fmt.Sprintf("%s of %s", plural(pods, "pod"), w)
}

// ScaledPods returns the text for the numbers of pods of an autoscaled workload up to most, while it has any.
func ScaledPods(w *workload.Workload, most int) string {
	least := max(1, w.Scale.Min)
	return when(least < most, fmt.Sprintf("%d to ", least)) + PodsOf(max(least, most), w)
}

// AlsoPending returns the text for the replica count of another workload with Pending pods.
func AlsoPending(pods int, w *workload.Workload) string {
	return PodsOf(pods, w) + " also " + verb(pods, "stays", "stay") + " Pending"
}

// MinDomainsRequires compares minDomains with the number of existing domains.
func MinDomainsRequires(minDomains, domains int) string {
	return fmt.Sprintf("minDomains requires %s, eligible nodes have %d", plural(minDomains, "domain"), domains)
}

// MostOfAll returns the text for the node that has the most of a resource.
func MostOfAll(r *facts.Request) string {
	amount := amountOf(sameUnit(r.Resource, r.Request, r.Largest)[1], r.Resource)
	if r.AtMost { // other nodes may have more
		return fmt.Sprintf("%s has at most %s", r.LargestNode, amount)
	}
	return fmt.Sprintf("%s has %s%s, the most of all nodes", r.LargestNode, amount, reserved(r))
}

// AlsoRequests returns the text for another workload that requests the same scarce resource.
func AlsoRequests(w *workload.Workload, resource corev1.ResourceName) string {
	return fmt.Sprintf("%s also requests %s", w, resource)
}

// AlsoWaits returns the text for another workload in a circle of workloads. Because of required
// affinity, each workload in the circle waits for the next one.
func AlsoWaits(w *workload.Workload) string { return w.String() + " waits as well" }

// ScheduledFirst returns the text for a workload whose pods are placed first.
func ScheduledFirst(w *workload.Workload, p *facts.Placed) string {
	return fmt.Sprintf("%s, scheduled first on %s", w, Places(p.On, p.Nodes))
}

// TriedWithoutRequests is a note about repairs of a conflict. The test of these repairs ignored
// resource requests.
const TriedWithoutRequests = "each was tried without resource requests: all pods can then be scheduled"

// IgnoresRequests returns a note for a table. The table counts resource requests, but the finding
// ignores them. The argument pods is the number of pods that do not fit according to the finding.
func IgnoresRequests(pods int) string {
	return fmt.Sprintf("the finding ignores resource requests, and at least %s %s left over without them; here they count",
		plural(pods, "pod"), verb(pods, "is", "are"))
}
