package message

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
)

// MaxPlaces bounds the nodes that a list of places names. One more is named as well, because "1
// more" is no shorter.
const MaxPlaces = 6

// Placed describes where pods of a workload are: 2 pods of Deployment shop/a on n1, n2.
func Placed(p *facts.Placed, in *facts.Facts) string {
	return fmt.Sprintf("%s of %s on %s", plural(p.Pods, "pod"), in.Ref(p.W), Places(p.On, p.Nodes))
}

// Places lists nodes with the number of pods on each: n1 (2), n2. The number nodes counts all of
// them.
func Places(on []facts.NodePods, nodes int) string {
	more := 0
	if nodes > MaxPlaces+1 {
		on, more = on[:min(MaxPlaces, len(on))], nodes-MaxPlaces
	}
	var parts []string
	for _, n := range on {
		name := n.Node
		if n.Pods > 1 {
			name += fmt.Sprintf(" (%d)", n.Pods)
		}
		parts = append(parts, name)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// Rejected counts the nodes that each filter rejects.
func Rejected(by []facts.FilterNodes) string {
	var parts []string
	for _, f := range by {
		parts = append(parts, fmt.Sprintf("%s rejected by %s", plural(f.Nodes, "node"), f.Filter))
	}
	return strings.Join(parts, ", ")
}
