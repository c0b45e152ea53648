package message

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// wording is a phrase about one node and the same about several: as a format of what
// the exclusion names.
type wording struct{ one, many string }

var exclusions = map[model.ExclusionKind]wording{
	model.Cordoned:        {"is cordoned", "are cordoned"},
	model.Tainted:         {"has the untolerated taint %s", "have the untolerated taint %s"},
	model.LacksLabel:      {"lacks the label %s", "lack the label %s"},
	model.OtherValue:      {"has %s", "have %s"},
	model.FailsExpression: {"does not match %s", "do not match %s"},
	model.MatchesNoTerm:   {"matches none of the nodeSelectorTerms", "match none of the nodeSelectorTerms"},
	model.EmptyTerm:       {"cannot match an empty nodeSelectorTerm", "cannot match an empty nodeSelectorTerm"},
	model.TooSmall:        {"is too small for one pod (%s)", "are too small for one pod (%s)"},
	model.Undeclared:      {"nodeName refers to node %s, which is not declared", ""},
}

// excludedBy is what an exclusion names, for the kinds that name something.
var excludedBy = map[model.ExclusionKind]func(*model.Exclusion) string{
	model.Tainted:         func(x *model.Exclusion) string { return taint(x.Taint) },
	model.LacksLabel:      Label,
	model.OtherValue:      func(x *model.Exclusion) string { return fmt.Sprintf("%s=%s, not %s", x.Key, x.Has, x.Want) },
	model.FailsExpression: func(x *model.Exclusion) string { return expression(x.Requirement) },
	model.TooSmall:        func(x *model.Exclusion) string { return string(x.Resource) },
	model.Undeclared:      func(x *model.Exclusion) string { return x.NodeName },
}

// Excluded is why one node takes no pod, without the node's name: has the untolerated
// taint x:NoSchedule.
func Excluded(x *model.Exclusion) string { return excluded(x, exclusions[x.Kind].one) }

// Exclusion is the same with the nodes: n1 is cordoned.
func Exclusion(x *model.Exclusion) string {
	switch len(x.Nodes) {
	case 0:
		return Excluded(x)
	case 1:
		return x.Nodes[0].Name + " " + Excluded(x)
	}
	names := make([]string, 0, maxNodes+1)
	for _, n := range x.Nodes[:min(maxNodes, len(x.Nodes))] {
		names = append(names, n.Name)
	}
	if len(x.Nodes) > maxNodes {
		names = append(names, "...")
	}
	return fmt.Sprintf("%d nodes (%s) %s", len(x.Nodes), strings.Join(names, ", "), excluded(x, exclusions[x.Kind].many))
}

// maxNodes bounds the nodes that a phrase names.
const maxNodes = 3

func excluded(x *model.Exclusion, format string) string {
	if name := excludedBy[x.Kind]; name != nil {
		return fmt.Sprintf(format, name(x))
	}
	return format
}

// Label is the label that nodes lack.
func Label(x *model.Exclusion) string { return x.Key + "=" + x.Want }

func taint(t *corev1.Taint) string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	return text + ":" + string(t.Effect)
}

// expression is a node selector requirement in one line.
func expression(r *corev1.NodeSelectorRequirement) string {
	if len(r.Values) == 0 {
		return r.Key + " " + string(r.Operator)
	}
	return fmt.Sprintf("%s %s [%s]", r.Key, r.Operator, strings.Join(r.Values, ", "))
}
