package message

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/check"
)

var refusals = map[check.Kind]func(*check.Refusal) string{
	check.Deleted:     func(*check.Refusal) string { return "is deleted" },
	check.Unreachable: func(*check.Refusal) string { return "is unreachable and has the taint " + corev1.TaintNodeUnreachable },
	check.Drained:     func(*check.Refusal) string { return "is cordoned for the drain" },
	check.OtherNode:   func(r *check.Refusal) string { return "is not node " + r.NodeName + " (nodeName)" },
	check.Excluded:    func(r *check.Refusal) string { return Excluded(&r.Exclusion) },
	check.PortTaken: func(r *check.Refusal) string {
		return fmt.Sprintf("has host port %d/%s in use by a pod of %s", r.Port.Port, r.Port.Protocol, r.Port.By)
	},
	check.NoRoom: func(r *check.Refusal) string { return noRoom(&r.Room) },
	check.LacksSpreadKey: func(r *check.Refusal) string {
		return fmt.Sprintf("lacks the label %s, which the topologySpreadConstraint needs", r.Key)
	},
	check.Uneven: func(r *check.Refusal) string { return uneven(&r.Spread) },
	check.Repelled: func(r *check.Refusal) string {
		if r.Unmet == nil {
			return repels(&r.Repels)
		}
		return repels(&r.Repels) + "; " + unmet(r.Unmet)
	},
	check.NoCompany: func(r *check.Refusal) string { return unmet(r.Unmet) },
}

// Refusal returns the reason why a node cannot run a pod, without the node's name.
func Refusal(r *check.Refusal) string {
	if words := refusals[r.Kind]; words != nil {
		return words(r)
	}
	return string(r.Kind)
}

func noRoom(r *check.Room) string {
	beside := beside(r)
	switch {
	case r.Resource == "":
		return "has no pod slot left" + beside
	case beside == "":
		return fmt.Sprintf("has %s %s, and one pod requests %s", &r.Offered, r.Resource, &r.Requested)
	}
	return fmt.Sprintf("has %s of %s %s left%s, and one pod requests %s", &r.Left, &r.Offered, r.Resource, beside, &r.Requested)
}

// beside lists the pods on the node, or "".
func beside(r *check.Room) string {
	if len(r.Beside) == 0 {
		return ""
	}
	var parts []string
	for _, p := range r.Beside {
		parts = append(parts, podsOf(p))
	}
	if r.More > 0 {
		parts = append(parts, fmt.Sprintf("%d more", r.More))
	}
	return " next to " + strings.Join(parts, ", ")
}

func uneven(s *check.Spread) string {
	fewest := fmt.Sprintf("the minimum of any value is %d", s.Smallest)
	if s.MinDomains > 0 {
		fewest = fmt.Sprintf("with %d of minDomains %d values the minimum counts as 0", s.Domains, s.MinDomains)
	}
	domain := "has"
	if !s.Single {
		domain = fmt.Sprintf("is in %s=%s with", s.Key, s.Value)
	}
	return fmt.Sprintf("%s %d matching pods, %s: one more exceeds maxSkew %d on %s", domain, s.Here, fewest, s.MaxSkew, s.Key)
}

func unmet(u *check.Unmet) string {
	switch {
	case u.Lacks:
		return fmt.Sprintf("lacks the label %s, which the required affinity needs", u.Key)
	case u.Single:
		return fmt.Sprintf("runs no pod that the required affinity selects (%s)", u.Term.Selector())
	}
	return fmt.Sprintf("is in %s=%s without a pod that the required affinity selects (%s)", u.Key, u.Value, u.Term.Selector())
}

func repels(r *check.Repels) string {
	rule := "required anti-affinity on " + r.Key
	switch {
	case r.Migration:
		rule = "the migration target needs another node"
	case r.Theirs:
		rule = "its " + rule
	}
	if r.Single {
		return fmt.Sprintf("runs %s: %s", podsOf(r.Pods), rule)
	}
	return fmt.Sprintf("is in %s=%s with %s: %s", r.Key, r.Value, podsOf(r.Pods), rule)
}

// podsOf counts pods of one workload.
func podsOf(p check.Pods) string { return plural(p.Count, "pod") + " of " + p.Workload }
