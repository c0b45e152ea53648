package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// headroom proves that other pods cannot block all of a member's nodes.
type headroom struct {
	*closings
	// parted caches the nodes of each part, keyed by the part's id.
	parted map[string][]int
}

// part returns the part with the given id. If the id is empty, the part is not cached.
func (h *headroom) part(id string, own int, nodes func() []int) part {
	if id == "" {
		return part{nodes: nodes(), own: own}
	}
	return part{id: id, nodes: lazy.Cached(h.parted, id, nodes), own: own}
}

// part is a set of nodes. A proof shows that at least one of these nodes stays available while
// `own` of the member's own pods are in place.
type part struct {
	// id is the same for parts with the same nodes. It is empty if the part is not cached.
	id    string
	nodes []int
	own   int
	// more is set if the member has more pods than the model. Each node may then run short.
	more bool
	// skews lists the spread constraints through which the member's own pods block domains.
	skews []*model.Term
}

// shares returns alternative ways to divide a member's nodes into parts. A proof needs only one
// way in which every part keeps an available node.
func (h *headroom) shares(m certificate.Member) [][]part {
	nodes, id := h.only(m), "sited\x00"+h.sited(m.G).name
	spreads := slices.Collect(m.G.Hard(model.Spread))
	if len(spreads) == 0 {
		if m.Open != nil || m.Left != nil || m.Node >= 0 || len(h.running) > 0 {
			id = ""
		}
		return [][]part{{{id: id, nodes: h.lasting(m.G, among(m.Open, among(m.Left, nodes))), own: m.Pods - 1}}}
	}
	if t := spreads[0]; len(spreads) == 1 && m.Node >= 0 && pinnedSpread(m.G, t) && h.within(m.G) && t.MinDomains() <= 1 {
		return [][]part{{{nodes: h.lasting(m.G, nodes), own: m.Pods - 1}}} // the constraint counts only the member's own node
	}
	refusing := h.refusing(m)
	if len(refusing) > 0 && m.Node >= 0 || len(refusing) > mostSpreads || slices.ContainsFunc(refusing, func(t *model.Term) bool { return t.Sel.Form != model.FormSet || h.watches(m.G, t) }) {
		return nil // no proof covers this case
	}
	keyed := h.keyed(m)
	keyed.skews = refusing
	all := [][]part{{keyed}}
	for k, t := range refusing {
		if parts := h.even(m, t, slices.Delete(slices.Clone(refusing), k, k+1)); len(parts) > 0 {
			all = append(all, parts)
		}
	}
	return all
}

// mostSpreads is the maximum number of a workload's spread constraints that one proof combines.
const mostSpreads = 8

// even returns one part per domain for a spread constraint that counts only the member's own
// pods. The constraint never rejects a pod in a domain with the fewest pods. The other
// constraints block domains (T22).
func (h *headroom) even(m certificate.Member, t *model.Term, others []*model.Term) (all []part) {
	domains := h.domains(m.G, t)
	crosses := func(o *model.Term) bool { return !h.inside(m.G, o.Key, t.Key) }
	if !h.keeps(m.G, t) || len(domains) < t.MinDomains() || slices.ContainsFunc(others, crosses) {
		return nil
	}
	share := (m.Pods+len(domains)-1)/len(domains) - 1
	keyed := h.keyed(m)
	for _, value := range model.SortedKeys(domains) {
		id := keyed.id
		if id != "" {
			id = strings.Join([]string{id, "in", t.Key, value}, "\x00")
		}
		p := h.part(id, share, func() []int {
			return slices.DeleteFunc(slices.Clone(keyed.nodes), func(n int) bool { return h.m.Topology.Nodes[n].Labels[t.Key] != value })
		})
		p.skews = others
		all = append(all, p)
	}
	return all
}

// checkHeadroom proves that no member gets stuck. It works in rounds, because the proof for one
// member can build on the proofs for others. For each member it counts the nodes that other pods,
// plus all but one of the member's own pods, can block. They must leave one of the member's nodes,
// or one of the nodes in the proof's Open list.
//
// If a member requires peers, its nodes are those near a pod of an already proved workload, because
// all of that workload's pods are placed in the end. If the member's first pod needs no peer, its
// nodes are those near any pod that may be in place.
func (h *headroom) checkHeadroom(c *certificate.Assertion) error {
	members := slices.DeleteFunc(slices.Clone(c.Members), func(m certificate.Member) bool { return m.Pods == 0 })
	shown, asserted := &provenResult{map[*model.Group]bool{}, map[*model.Group][]int{}}, map[*model.Group]int{}
	for _, m := range members {
		asserted[m.G]++
	}
	for _, m := range members {
		if m.G.After != nil && asserted[h.m.Groups[m.G.After]] == 0 {
			return fmt.Errorf("%v waits for %v", m.G.Workload, m.G.After)
		}
	}
	type pods struct {
		g    *model.Group
		node int
	}
	for len(members) > 0 {
		left := slices.DeleteFunc(slices.Clone(members), func(m certificate.Member) bool { return h.checkNeverStuck(m, shown) == nil })
		if len(left) == len(members) {
			return h.checkNeverStuck(members[0], shown)
		}
		open := lists.SetOf(left, func(m certificate.Member) pods { return pods{m.G, m.Node} })
		for _, m := range members {
			switch {
			case open[pods{m.G, m.Node}]:
			case m.Node < 0:
				shown.all[m.G] = true
			default:
				shown.on[m.G] = append(shown.on[m.G], m.Node)
			}
		}
		members = left
	}
	return nil
}

// provenResult holds the groups that are already proved never to get stuck. For a DaemonSet, it
// also holds the nodes whose pods are proved.
type provenResult struct {
	all map[*model.Group]bool
	on  map[*model.Group][]int
}

// checkNeverStuck returns nil if it proves that a member never gets stuck.
func (h *headroom) checkNeverStuck(m certificate.Member, shown *provenResult) error {
	if m.G.Spec.NodeName != "" {
		return fmt.Errorf("%v needs more than an open node", m.G.Workload)
	}
	if h.vague[m.G.Workload] {
		return fmt.Errorf("%v: whom its rules select is not known", m.G.Workload)
	}
	if len(m.G.HardAffinity()) == 0 {
		// For one of several divisions, every part keeps an available node. The slower bound comes last.
		ways := h.shares(m)
		err := fmt.Errorf("%v: its spread constraints are not for counting", m.G.Workload)
		for _, bound := range []func(certificate.Member, part) int{h.summed, h.closed} {
			for _, parts := range ways {
				if err = checkBound(m, parts, bound); err == nil {
					return nil
				}
			}
		}
		return err
	}
	if len(h.refusing(m)) > 0 || m.Node >= 0 {
		return fmt.Errorf("%v needs more than company", m.G.Workload)
	}
	for _, w := range h.selects[m.G.HardAffinity()[0]] {
		o := h.m.Groups[w]
		if o != m.G && h.follows(m, o, shown) {
			return nil
		}
	}
	// A member whose first pod needs no peer never gets stuck: the first pod can use any of the member's nodes, and later
	// pods can use the nodes near any pod that may be in place.
	hard := m.G.HardAffinity()
	keyed := h.keyed(m)
	parts := []part{keyed}
	for _, t := range hard {
		if !h.m.Selects(t, m.G.Workload, m.G.Workload, model.Asks{Self: true, Incoming: true}) {
			return fmt.Errorf("%v waits for others", m.G.Workload)
		}
	}
	parts = append(parts, h.nearTo(m, keyed.nodes)...)
	may := func(t *model.Term, _, o *model.Group) bool { return slices.Contains(h.selects[t], o.Workload) } // on some node
	for _, w := range h.selects[hard[0]] {
		if o := h.m.Groups[w]; o != m.G && h.accompanies(m, o, may) {
			parts = append(parts, h.nearTo(m, h.currentNodes(o))...)
		}
	}
	return h.checkParts(m, parts)
}

// follows reports whether a member finds a node near the pods of o, wherever these pods are. If o
// is a DaemonSet, one proved pod is enough.
func (h *headroom) follows(m certificate.Member, o *model.Group, shown *provenResult) bool {
	near := func(sites []int) bool {
		wanted := func(t *model.Term, g, o *model.Group) bool { return h.surelyAt(t, g, o, sites) }
		return h.accompanies(m, o, wanted) && h.checkParts(m, h.nearTo(m, sites)) == nil
	}
	if o.Kind.PerNode() {
		return slices.ContainsFunc(shown.on[o], func(n int) bool { return near([]int{n}) })
	}
	return h.comes(o, shown) && near(h.sites(o))
}

// comes reports whether a group has been proved, along with all groups whose pods must be created
// before its own.
func (h *headroom) comes(g *model.Group, shown *provenResult) bool {
	for ; shown.all[g]; g = h.m.Groups[g.After] {
		if g.After == nil {
			return true
		}
	}
	return false
}

// accompanies reports whether all of a member's required affinity terms select the pods of o.
func (h *headroom) accompanies(m certificate.Member, o *model.Group, selects func(*model.Term, *model.Group, *model.Group) bool) bool {
	return !slices.ContainsFunc(m.G.HardAffinity(), func(t *model.Term) bool { return !selects(t, m.G, o) })
}

// checkParts returns nil if it proves that every part keeps an available node.
func (h *headroom) checkParts(m certificate.Member, parts []part) error {
	return checkBound(m, parts, h.closed)
}

// checkBound returns nil if the bound on blocked nodes leaves an available node in each part.
func checkBound(m certificate.Member, parts []part, bound func(certificate.Member, part) int) error {
	for _, p := range parts {
		if closed := bound(m, p); closed >= len(p.nodes) {
			return fmt.Errorf("%v: %d of %d nodes may be closed", m.G.Workload, closed, len(p.nodes))
		}
	}
	return nil
}

// nearTo returns a part for each of the given nodes, without duplicates. The part contains the
// member's nodes that are near a pod on the given node.
func (h *headroom) nearTo(m certificate.Member, sites []int) []part {
	seen := map[string]bool{}
	keyed := h.keyed(m)
	var all []part
	h.m.Run().Spend(1 + len(sites)/2)
	for _, at := range sites {
		here := h.m.Topology.Nodes[at]
		id, complete := domainID(here, m.G.HardAffinity())
		if !complete {
			return []part{{}} // nothing is near a pod there
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if keyed.id != "" {
			id = keyed.id + "\x00at\x00" + id
		} else {
			id = ""
		}
		all = append(all, h.part(id, m.Pods-1, func() []int {
			return slices.DeleteFunc(slices.Clone(keyed.nodes), func(n int) bool {
				return slices.ContainsFunc(m.G.HardAffinity(), func(t *model.Term) bool { return !model.SameDomain(here, h.m.Topology.Nodes[n], t.Key) })
			})
		}))
	}
	return all
}

// keyed returns a member's nodes that have all keys in its rules and that running pods do not
// block permanently.
func (h *headroom) keyed(m certificate.Member) part {
	id := ""
	if m.Node < 0 && m.Left == nil && len(h.running) == 0 {
		id = h.sited(m.G).name + "\x00keyed\x00" + strings.Join(model.HardKeys(m.G), "\x00")
		for _, t := range m.G.HardAffinity() {
			id += "\x00near\x00" + t.Key
		}
	}
	return h.part(id, m.Pods-1, func() []int {
		return h.lasting(m.G, slices.DeleteFunc(slices.Clone(among(m.Left, h.only(m))), func(n int) bool { return !h.carriesAll(m.G, n) }))
	})
}

// among returns those of the nodes that are in a list, or all if the list is nil.
func among(list, nodes []int) []int {
	if list == nil {
		return nodes
	}
	in := lists.Set(list)
	return slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return !in[n] })
}

// refusing returns the spread constraints that may reject one of a member's pods. A constraint
// never rejects a pod if the total number of counted pods is at most the maximum skew.
func (h *headroom) refusing(m certificate.Member) []*model.Term {
	var all []*model.Term
	for t := range m.G.Hard(model.Spread) {
		pods := 0
		if t.Sel.Form == model.FormEmpty || h.m.Selects(t, m.G.Workload, m.G.Workload, model.Asks{Self: true, Incoming: true}) {
			pods = 1
		}
		for _, w := range h.selects[t] {
			switch o := h.m.Groups[w]; {
			case t.Sel.Form != model.FormSet, w.Terminating(): // no constraint counts terminating pods (R-T4)
			case o == m.G:
				pods += max(h.count(o), m.Pods) - 1
			case o.Running:
				pods++
			default:
				pods += h.coming(o)
			}
		}
		if pods > int(t.Constraint.MaxSkew) {
			all = append(all, t)
		}
	}
	return all
}
