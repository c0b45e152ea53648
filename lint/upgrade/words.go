package upgrade

import (
	"fmt"
	"strings"
)

// described names a set of usable nodes in words.
func (p *plan) described(at layout, end bool) string {
	n := fmt.Sprintf("%d usable nodes", at.total())
	if at.total() == 1 {
		n = "1 usable node"
	}
	if names := p.pool.ZoneNames(); len(names) > 1 {
		var zones []string
		for z, name := range names {
			zones = append(zones, fmt.Sprintf("%s: %d", name, at[z]))
		}
		n += " (" + strings.Join(zones, ", ") + ")"
	}
	if end {
		return "after the upgrade with " + n
	}
	return "with " + n
}
