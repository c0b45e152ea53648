package message

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// wording holds two formats for a phrase, one for a single node and one for several nodes. The
// format argument is the detail of the exclusion.
type wording struct{ one, many string }

var exclusions = map[model.ExclusionKind]wording{
	model.Cordoned:        {"is cordoned", "are cordoned"},
	model.Tainted:         {"has the untolerated taint %s", "have the untolerated taint %s"},
	model.LacksLabel:      {"lacks the label %s", "lack the label %s"},
	model.OtherValue:      {"has %s", "have %s"},
	model.UnsetLabel:      {"gets no label %s", "no NodePool sets the label %s"},
	model.FailsExpression: {"does not match %s", "do not match %s"},
	model.MatchesNoTerm:   {"matches none of the nodeSelectorTerms", "match none of the nodeSelectorTerms"},
	model.EmptyTerm:       {"cannot match an empty nodeSelectorTerm", "cannot match an empty nodeSelectorTerm"},
	model.TooSmall:        {"is too small for one pod (%s)", "are too small for one pod (%s)"},
	model.OtherVolume:     {"cannot use %s", "cannot use %s"},
	model.Undeclared:      {"nodeName refers to node %s, which is not declared", ""},
}

// excludedBy maps each kind of exclusion that has a detail to a function that returns the detail.
var excludedBy = map[model.ExclusionKind]func(*facts.Exclusion) string{
	model.Tainted:         taint,
	model.LacksLabel:      func(x *facts.Exclusion) string { return x.Key + "=" + x.Value },
	model.OtherValue:      func(x *facts.Exclusion) string { return fmt.Sprintf("%s=%s, not %s", x.Key, x.Has, x.Value) },
	model.UnsetLabel:      func(x *facts.Exclusion) string { return strings.TrimSuffix(x.Key+"="+x.Value, "=") },
	model.FailsExpression: expression,
	model.TooSmall:        func(x *facts.Exclusion) string { return x.Resource },
	model.OtherVolume:     volume,
	model.Undeclared:      func(x *facts.Exclusion) string { return x.Value },
}

// excludedRows maps each kind of exclusion to a function that sets the details of its row.
var excludedRows = map[model.ExclusionKind]func(*model.Exclusion, *facts.Exclusion){
	model.Tainted: func(x *model.Exclusion, row *facts.Exclusion) {
		row.Key, row.Value, row.Effect = x.Taint.Key, x.Taint.Value, string(x.Taint.Effect)
	},
	model.LacksLabel: func(x *model.Exclusion, row *facts.Exclusion) { row.Key, row.Value = x.Key, x.Want },
	model.OtherValue: func(x *model.Exclusion, row *facts.Exclusion) { row.Key, row.Value, row.Has = x.Key, x.Want, x.Has },
	model.UnsetLabel: func(x *model.Exclusion, row *facts.Exclusion) { row.Key, row.Value = x.Key, x.Want },
	model.FailsExpression: func(x *model.Exclusion, row *facts.Exclusion) {
		row.Key, row.Operator, row.Values = x.Requirement.Key, string(x.Requirement.Operator), x.Requirement.Values
	},
	model.OtherVolume: func(x *model.Exclusion, row *facts.Exclusion) {
		row.Claim, row.Volume = x.Reach.Claim, x.Reach.Source()
		if r := x.Requirement; r != nil {
			row.Key, row.Operator, row.Values = r.Key, string(r.Operator), r.Values
		}
	},
	model.TooSmall:   func(x *model.Exclusion, row *facts.Exclusion) { row.Resource = string(x.Resource) },
	model.Undeclared: func(x *model.Exclusion, row *facts.Exclusion) { row.Value = x.NodeName },
}

// ExclusionRow converts an exclusion to the row that rules see. Messages are made from the row.
func ExclusionRow(x *model.Exclusion) facts.Exclusion {
	row := facts.Exclusion{Reason: string(x.Kind), Values: []string{}, Nodes: len(x.Nodes), Names: []string{}}
	if fill := excludedRows[x.Kind]; fill != nil {
		fill(x, &row)
	}
	if row.NodePools = x.NodePools; row.NodePools {
		pools := lists.SetOf(x.Nodes, func(n *topology.Node) string { return n.Pool.Name })
		row.Nodes, row.Names = len(pools), slices.Sorted(maps.Keys(pools))[:min(maxNodes, len(pools))]
		return row
	}
	for _, n := range x.Nodes[:min(maxNodes, len(x.Nodes))] {
		row.Names = append(row.Names, n.Name)
	}
	return row
}

// Excluded returns the reason why one node cannot run a pod, such as "has the untolerated taint
// x:NoSchedule".
func Excluded(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return excludedOne(&row)
}

// Exclusion returns the reason why some nodes cannot run a pod, such as "n1 is cordoned".
func Exclusion(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return exclusionLine(&row)
}

func exclusionLine(x *facts.Exclusion) string {
	names, many := strings.Join(excludedNames(x), ", "), excluded(x, exclusions[model.ExclusionKind(x.Reason)].many)
	switch {
	case x.Reason == string(model.UnsetLabel):
		return many
	case x.NodePools && x.Nodes == 1:
		return "nodes of NodePool " + names + " " + many
	case x.NodePools:
		return fmt.Sprintf("nodes of %d NodePools (%s) %s", x.Nodes, names, many)
	case x.Nodes == 0:
		return excludedOne(x)
	case x.Nodes == 1:
		return names + " " + excludedOne(x)
	}
	return fmt.Sprintf("%d nodes (%s) %s", x.Nodes, names, many)
}

// excludedNames returns the known names of the excluded nodes. The last element is "..." if there
// are more nodes.
func excludedNames(x *facts.Exclusion) []string {
	if x.Nodes > len(x.Names) {
		return append(slices.Clip(x.Names), "...")
	}
	return x.Names
}

// maxNodes is the maximum number of nodes in a phrase.
const maxNodes = 3

func excludedOne(x *facts.Exclusion) string {
	return excluded(x, exclusions[model.ExclusionKind(x.Reason)].one)
}

func excluded(x *facts.Exclusion, format string) string {
	if topology.Stocked(corev1.ResourceName(x.Resource)) {
		has := "has"
		if strings.HasPrefix(format, "are") {
			has = "have"
		}
		return has + " too few available " + x.Resource
	}
	if name := excludedBy[model.ExclusionKind(x.Reason)]; name != nil {
		return fmt.Sprintf(format, name(x))
	}
	return format
}

// exclusionLines returns a line for each reason why nodes are excluded. The argument more is the
// number of further reasons. Another line states this number if it is not 0.
func exclusionLines(all []facts.Exclusion, more int) []string {
	lines := make([]string, 0, len(all)+1)
	for i := range all {
		lines = append(lines, exclusionLine(&all[i]))
	}
	if more > 0 {
		lines = append(lines, plural(more, "more reason"))
	}
	return lines
}

// Label returns the label that the excluded nodes lack, formatted as key=value.
func Label(x *model.Exclusion) string { return x.Key + "=" + x.Want }

func taint(x *facts.Exclusion) string {
	text := x.Key
	if x.Value != "" {
		text += "=" + x.Value
	}
	return text + ":" + x.Effect
}

// volume describes a claim that cannot be used on some nodes.
func volume(x *facts.Exclusion) string {
	text := fmt.Sprintf("claim %s (%s", x.Claim, x.Volume)
	if x.Key != "" {
		text += ": " + expression(x)
	}
	return text + ")"
}

// expression formats a node selector requirement in one line.
func expression(x *facts.Exclusion) string {
	if len(x.Values) == 0 {
		return x.Key + " " + x.Operator
	}
	return fmt.Sprintf("%s %s [%s]", x.Key, x.Operator, strings.Join(x.Values, ", "))
}

var refusals = map[check.Kind]func(*check.Refusal) string{
	check.Deleted:     func(*check.Refusal) string { return "is deleted" },
	check.Unreachable: func(*check.Refusal) string { return "is unreachable and has the taint " + corev1.TaintNodeUnreachable },
	check.Drained:     func(*check.Refusal) string { return "is cordoned for the drain" },
	check.Stranded:    stranded,
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
	check.InUse: func(r *check.Refusal) string {
		return "cannot run it while another pod uses claim " + r.Key + " (ReadWriteOncePod)"
	},
	check.NoCompany: func(r *check.Refusal) string { return unmet(r.Unmet) },
}

func stranded(r *check.Refusal) string {
	if domain := WaitsFor(r.Key); domain != "node" {
		return "is not in the " + domain + " of the pod's volume"
	}
	return "is not the node of the pod's volume"
}

// Refusal returns the reason why a node cannot run a pod, without the name of the node.
func Refusal(r *check.Refusal) string {
	if words := refusals[r.Kind]; words != nil {
		return words(r)
	}
	return string(r.Kind)
}

func noRoom(r *check.Room) string {
	beside, amounts, less := beside(r), workload.Amounts(r.Resource, r.Left, r.Offered, r.Requested), minus(r.Resource, r.Offered, r.Reserved)
	attaches := topology.Driver(r.Resource) != ""
	switch {
	case r.Resource == "":
		return "has no pod slot left" + beside
	case r.AtMost:
		return fmt.Sprintf("has at most %s, and one pod requests %s", amountOf(amounts[1], r.Resource), amounts[2])
	case beside == "" && attaches:
		return fmt.Sprintf("attaches %s, and one pod requests %s", amountOf(amounts[1], r.Resource), amounts[2])
	case beside == "":
		return fmt.Sprintf("has %s%s, and one pod requests %s", amountOf(amounts[1], r.Resource), less, amounts[2])
	case attaches:
		return fmt.Sprintf("attaches %s more of %s%s, and one pod requests %s", amounts[0], amountOf(amounts[1], r.Resource), beside, amounts[2])
	}
	return fmt.Sprintf("has %s of %s%s left%s, and one pod requests %s", amounts[0], amountOf(amounts[1], r.Resource), less, beside, amounts[2])
}

// amountOf returns an amount of a resource, such as "1 volume of ebs.csi.aws.com".
func amountOf[T ~string](amount string, resource T) string {
	name := string(resource)
	if before, after, _ := strings.Cut(name, "s of "); amount == "1" && topology.CountsVolumes(corev1.ResourceName(name)) {
		name = before + " of " + after
	}
	return amount + " " + name
}

// beside lists the pods that already run on the node, or returns "".
func beside(r *check.Room) string {
	if len(r.Beside) == 0 {
		return ""
	}
	parts := lists.Of(r.Beside, podsOf)
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

// podsOf formats a pod count and the workload's name, such as "2 pods of Deployment shop/a".
func podsOf(p check.Pods) string { return plural(p.Count, "pod") + " of " + p.Workload }
