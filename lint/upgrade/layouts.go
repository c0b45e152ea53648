package upgrade

import "slices"

// mostLayouts limits the number of sets of usable nodes of a pool, by zone.
const mostLayouts = 400

// layout holds the number of usable nodes of a pool in each zone.
type layout []int

// total returns the number of nodes.
func (l layout) total() (n int) {
	for _, z := range l {
		n += z
	}
	return n
}

// layouts are the sets of usable nodes of a pool during an upgrade.
type layouts struct {
	// during holds the sets while some node is drained. ends holds the sets after the upgrade.
	during, ends []layout
	// most holds the greatest sets of all nodes that exist just after the first old node is gone.
	most []layout
}

// layoutsOf returns the sets of usable nodes of a pool whose numbers of nodes by zone are given. It
// returns false if there are too many.
func layoutsOf(nodes layout, s Settings) (all layouts, ok bool) {
	n := nodes.total()
	s.Surge, s.Unavailable = min(s.Surge, n), min(s.Unavailable, n)
	less, more := max(0, n-s.Unavailable), n+s.Surge-1 // one is drained
	if s.CordonAll {                                   // only new nodes are usable, and at least one old node is drained
		less = max(0, 1-s.Unavailable)
	}
	ok = compositions(nodes, s, less, more, func(l layout) { all.during = append(all.during, l) })
	switch {
	case !s.AnyZone:
		all.ends = []layout{nodes}
	default:
		ok = compositions(nodes, s, n, n, func(l layout) { all.ends = append(all.ends, l) }) && ok
	}
	last := s
	last.CordonAll, last.Unavailable = false, max(1, s.Unavailable)
	ok = compositions(nodes, last, n+s.Surge-1, n+s.Surge-1, func(l layout) {
		if s.AnyZone || removes(nodes, l, s.Surge) {
			all.most = append(all.most, l)
		}
	}) && ok
	return all, ok && len(all.during)+len(all.ends)+len(all.most) <= mostLayouts
}

// removes reports whether a layout has enough nodes for an upgrade that has removed one node of the pool and
// added up to surge new ones, each in the zone of the node it replaces.
func removes(nodes, l layout, surge int) bool {
	more, less := 0, 0
	for z := range l {
		more += max(0, l[z]-nodes[z])
		less += max(0, nodes[z]-l[z])
	}
	return more <= surge && less <= 1
}

// compositions yields the layouts with a total in a range that an upgrade can reach. It returns false
// if there are too many.
func compositions(nodes layout, s Settings, less, more int, yield func(layout)) bool {
	found, tries := 0, 0
	at := make(layout, len(nodes))
	var fill func(z, left int) bool
	fill = func(z, left int) bool {
		if tries++; tries > 100*mostLayouts {
			return false
		}
		if z == len(nodes) {
			total := more - left
			if total < less || !reached(nodes, at, s) {
				return true
			}
			if found++; found > mostLayouts {
				return false
			}
			yield(slices.Clone(at))
			return true
		}
		for n := 0; n <= left; n++ {
			if at[z] = n; !fill(z+1, left-n) {
				return false
			}
		}
		at[z] = 0
		return true
	}
	return fill(0, more)
}

// reached reports whether an upgrade can reach a layout whose total is within the limits.
func reached(nodes, l layout, s Settings) bool {
	more, less, kept := 0, 0, 0 // nodes more and less than before in each zone, and old nodes that may be left
	for z := range l {
		more += max(0, l[z]-nodes[z])
		less += max(0, nodes[z]-l[z])
		kept += min(nodes[z], l[z])
	}
	switch {
	case s.CordonAll && s.AnyZone:
		return true
	case s.CordonAll: // each new node replaces one of its zone, except those of the surge
		return more <= s.Surge
	case s.AnyZone: // at most as many new nodes as old ones
		return l.total()-kept <= nodes.total()
	}
	return less <= s.Unavailable // the total limits the rest
}
