package message

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// Fixes without parameters.
const (
	AcceptSkew      = "set whenUnsatisfiable: ScheduleAnyway if a larger skew is acceptable"
	HonorTaints     = "set nodeTaintsPolicy: Honor so that tainted nodes do not count as empty domains"
	LowerOneRequest = "lower one of the requests, or add a node that satisfies all of them"
	MatchNodes      = "change the rule or add nodes that match it"
	PreferOneTerm   = "make one of the required affinity terms preferred"
	RemoveHostPort  = "remove the host port and use a Service"
	RemoveNodeName  = "remove nodeName to let the scheduler choose the node"
)

// AddNodes asks for nodes that each have a topology key value of their own.
func AddNodes(n int, key string) string {
	text, value := AddEligibleNode, fmt.Sprintf(" with a new %s value", key)
	if n > 1 {
		text, value = fmt.Sprintf("add %d eligible nodes", n), fmt.Sprintf(", each with a new %s value", key)
	}
	if key == corev1.LabelHostname {
		return text
	}
	return text + value
}

// AddAnyNodes asks for a number of nodes.
func AddAnyNodes(n int) string { return "add " + plural(n, "node") }

// AddNodeWith asks for a node that has an amount of a resource.
func AddNodeWith(request string, resource corev1.ResourceName) string {
	if resource == corev1.ResourcePods {
		return "add a node that takes pods"
	}
	return fmt.Sprintf("add a node with at least %s %s", request, resource)
}

// RequestAtMost offers a request that fits the largest node, or a node that fits the request.
func RequestAtMost(largest, request string, resource corev1.ResourceName) string {
	return fmt.Sprintf("request at most %s %s, or add a node with at least %s", largest, resource, request)
}

// RequestLess is the repair for pods of one workload that together request too much of a resource.
func RequestLess(resource corev1.ResourceName) string {
	return fmt.Sprintf("request less %s or add nodes", resource)
}

// RequestLessTogether is the same repair for several workloads.
func RequestLessTogether(resource corev1.ResourceName) string {
	return fmt.Sprintf("request less %s, run fewer pods, or add nodes", resource)
}

// RequestInstead asks for the resource that was probably meant.
func RequestInstead(resource string) string { return "request " + resource }

// ListResource asks for nodes that list an extended resource.
func ListResource(resource corev1.ResourceName) string {
	return fmt.Sprintf("add %s to the allocatable resources of the nodes that provide it", resource)
}

// PreferAntiAffinity makes anti-affinity on a key preferred.
func PreferAntiAffinity(key string) string {
	return fmt.Sprintf("make the anti-affinity preferred if pods may share a %s value", key)
}

// SetMinDomains asks for another minDomains.
func SetMinDomains(n int) string { return fmt.Sprintf("set minDomains to %d", n) }

// SetNodeName asks for the node that was probably meant.
func SetNodeName(node string) string { return "set nodeName: " + node }

// LabelNodes asks for nodes with a label key.
func LabelNodes(key string) string { return "label the nodes with " + key }

// LabelNode asks for a node with the label that a rule requires.
func LabelNode(x *model.Exclusion) string {
	return fmt.Sprintf("label a node with %s, or remove the rule", Label(x))
}

// Select asks for the label that was probably meant.
func Select(label string) string { return "select " + label }

// Uncordon names the cordoned nodes.
func Uncordon(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return "uncordon " + strings.Join(excludedNames(&row), ", ")
}

// AddUntainted asks for nodes without the taint of an exclusion.
func AddUntainted(x *model.Exclusion) string { return "add nodes without the taint " + untolerated(x) }

// Tolerate asks for a toleration of the taint of an exclusion.
func Tolerate(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return fmt.Sprintf("tolerate the taint %s (%s)", untolerated(x), strings.Join(excludedNames(&row), ", "))
}

// TolerateWith asks for a toleration together with another number of pods, which field sets.
func TolerateWith(x *model.Exclusion, field string, n int) string {
	return fmt.Sprintf("%s and set %s to %d (with more, pods can stay Pending, or a rollout or node drain can get stuck)", Tolerate(x), field, n)
}

// untolerated returns a taint without its value, which a toleration need not name.
func untolerated(x *model.Exclusion) string { return fmt.Sprintf("%s:%s", x.Taint.Key, x.Taint.Effect) }

// SetReplicas asks for a number of pods, which field sets. At most most pods fit, and n is smaller
// if a change can get stuck with more.
func SetReplicas(field string, n, most int) string {
	text := fmt.Sprintf("set %s to %d", field, n)
	if n < most {
		text += stuckWith(most)
	}
	return text
}

// FewerReplicas asks for a smaller number of replicas, because changes can get stuck with more.
func FewerReplicas(w *workload.Workload, n, most int) string { return Replicas(w, n) + stuckWith(most) }

func stuckWith(pods int) string {
	return fmt.Sprintf(" (with %d, a rollout or node drain can get stuck)", pods)
}

// RepairStuck is a repair after which changes can get stuck.
func RepairStuck(r *search.Repair) string {
	return Repair(r) + " (a rollout or node drain can then get stuck)"
}

// Apart is a rule that keeps replicas on different nodes.
type Apart struct {
	// Soft is set for a constraint that is not enforced; the other fields apply to enforced ones.
	Soft bool
	// Honor asks for nodeTaintsPolicy: Honor. RevisionLabel, if not empty, is the label of a
	// revision for matchLabelKeys.
	Honor         bool
	RevisionLabel string
	// AntiAffinity is set if required anti-affinity works as well.
	AntiAffinity bool
}

// KeepApart asks for such a rule.
func KeepApart(a Apart) string {
	text := "add a topologySpreadConstraint on kubernetes.io/hostname with whenUnsatisfiable: "
	if a.Soft {
		return text + "ScheduleAnyway"
	}
	text += "DoNotSchedule"
	if a.Honor {
		text += ", nodeTaintsPolicy: Honor"
	}
	if a.RevisionLabel != "" {
		text += fmt.Sprintf(" and matchLabelKeys: [%s]", a.RevisionLabel)
	}
	if a.AntiAffinity {
		text += ", or required anti-affinity"
	}
	return text
}

// AndPerRevision adds to a fix that pods of different revisions must not affect each other.
func AndPerRevision(label string) string {
	return fmt.Sprintf(", and add matchLabelKeys: [%s] so that rollouts and node drains do not get stuck", label)
}

// AndSoften adds to a fix that the corrected term must not be enforced.
func AndSoften(use model.Use) string {
	soft := "make the term preferred"
	if use == model.Spread {
		soft = "set whenUnsatisfiable: ScheduleAnyway"
	}
	return ", and " + soft + " so that it does not block rollouts or node drains"
}
