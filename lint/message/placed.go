package message

import (
	"fmt"
	"strings"

	"github.com/schedlint/schedlint/lint/facts"
)

// MaxPlaces is how many nodes a phrase about places names; one more than that is named,
// too, as "1 more" is no shorter.
const MaxPlaces = 6

// Placed says where pods of a workload are: 2 pods of Deployment shop/a on n1, n2.
func Placed(p *facts.Placed, in *facts.Facts) string {
	return fmt.Sprintf("%s of %s on %s", plural(p.Pods, "pod"), in.Ref(p.W), Places(p.On, p.Nodes))
}

// Places names nodes, with how many pods are on each: n1 (2), n2. There are so many nodes
// in all.
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
