package message

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// wording is a phrase about one node and the same phrase about several, as formats of the detail of
// the exclusion.
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

// excludedBy returns the detail of an exclusion, for the kinds that have one.
var excludedBy = map[model.ExclusionKind]func(*facts.Exclusion) string{
	model.Tainted:         taint,
	model.LacksLabel:      func(x *facts.Exclusion) string { return x.Key + "=" + x.Value },
	model.OtherValue:      func(x *facts.Exclusion) string { return fmt.Sprintf("%s=%s, not %s", x.Key, x.Has, x.Value) },
	model.FailsExpression: expression,
	model.TooSmall:        func(x *facts.Exclusion) string { return x.Resource },
	model.Undeclared:      func(x *facts.Exclusion) string { return x.Value },
}

// excludedRows fill in the detail of a row, by kind.
var excludedRows = map[model.ExclusionKind]func(*model.Exclusion, *facts.Exclusion){
	model.Tainted: func(x *model.Exclusion, row *facts.Exclusion) {
		row.Key, row.Value, row.Effect = x.Taint.Key, x.Taint.Value, string(x.Taint.Effect)
	},
	model.LacksLabel: func(x *model.Exclusion, row *facts.Exclusion) { row.Key, row.Value = x.Key, x.Want },
	model.OtherValue: func(x *model.Exclusion, row *facts.Exclusion) { row.Key, row.Value, row.Has = x.Key, x.Want, x.Has },
	model.FailsExpression: func(x *model.Exclusion, row *facts.Exclusion) {
		row.Key, row.Operator, row.Values = x.Requirement.Key, string(x.Requirement.Operator), x.Requirement.Values
	},
	model.TooSmall:   func(x *model.Exclusion, row *facts.Exclusion) { row.Resource = string(x.Resource) },
	model.Undeclared: func(x *model.Exclusion, row *facts.Exclusion) { row.Value = x.NodeName },
}

// ExclusionRow returns an exclusion in the vocabulary of rules; the row is what gets worded.
func ExclusionRow(x *model.Exclusion) facts.Exclusion {
	row := facts.Exclusion{Reason: string(x.Kind), Values: []string{}, Nodes: len(x.Nodes), Names: []string{}}
	if fill := excludedRows[x.Kind]; fill != nil {
		fill(x, &row)
	}
	for _, n := range x.Nodes[:min(maxNodes, len(x.Nodes))] {
		row.Names = append(row.Names, n.Name)
	}
	return row
}

// Excluded returns the reason why one node cannot run a pod, without the node's name: has the
// untolerated taint x:NoSchedule.
func Excluded(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return excludedOne(&row)
}

// Exclusion returns the same reason with the nodes: n1 is cordoned.
func Exclusion(x *model.Exclusion) string {
	row := ExclusionRow(x)
	return exclusionLine(&row)
}

func exclusionLine(x *facts.Exclusion) string {
	switch x.Nodes {
	case 0:
		return excludedOne(x)
	case 1:
		return x.Names[0] + " " + excludedOne(x)
	}
	return fmt.Sprintf("%d nodes (%s) %s", x.Nodes, strings.Join(excludedNames(x), ", "), excluded(x, exclusions[model.ExclusionKind(x.Reason)].many))
}

// excludedNames returns the nodes of an exclusion: n1, n2, n3, ...
func excludedNames(x *facts.Exclusion) []string {
	if x.Nodes > len(x.Names) {
		return append(slices.Clip(x.Names), "...")
	}
	return x.Names
}

// maxNodes bounds the nodes that a phrase names.
const maxNodes = 3

func excludedOne(x *facts.Exclusion) string {
	return excluded(x, exclusions[model.ExclusionKind(x.Reason)].one)
}

func excluded(x *facts.Exclusion, format string) string {
	if name := excludedBy[model.ExclusionKind(x.Reason)]; name != nil {
		return fmt.Sprintf(format, name(x))
	}
	return format
}

// exclusionLines words the reasons why nodes do not count, with the number of further ones.
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

// Label returns the label that nodes lack.
func Label(x *model.Exclusion) string { return x.Key + "=" + x.Want }

func taint(x *facts.Exclusion) string {
	text := x.Key
	if x.Value != "" {
		text += "=" + x.Value
	}
	return text + ":" + x.Effect
}

// expression formats a node selector requirement in one line.
func expression(x *facts.Exclusion) string {
	if len(x.Values) == 0 {
		return x.Key + " " + x.Operator
	}
	return fmt.Sprintf("%s %s [%s]", x.Key, x.Operator, strings.Join(x.Values, ", "))
}
