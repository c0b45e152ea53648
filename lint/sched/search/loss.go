package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// History explores losses and drains that start in a state in which no more pods can be placed. The answer
// about a workload covers the states in which all of its pods run. A loss may come after others, each of
// one node that returns when some workload has all of its pods again (T7).
type History struct {
	m, parts *model.Model
	*losing  // nil if the outcome would depend on facts that only the cluster knows
	checker  certificate.History
}

// NewHistory returns the history of a model. The losses in `again`, each of any one node, may come before the
// one in question. If domains is not nil, all questions are about the loss of all nodes of a domain.
func NewHistory(m *model.Model, domains []map[string]bool, again []certificate.Loss, o Options) *History {
	h := &History{m: m, parts: m.Split()}
	if !m.Run().Within(m.Run().Left(), func() {
		steps, _ := budget(m, o)
		h.losing = newLosing(newState(h.parts, true, nil), domains, again, &steps)
	}) {
		h.losing = nil
		m.Run().Stops++
	}
	if h.losing != nil {
		h.checker = certificate.CheckerOf(h.parts).History(h.parts, domains, again)
	}
	return h
}

// Lose explores a loss of a domain or of any one node, and all repairs in every order, within the step
// budget.
func (h *History) Lose(l certificate.Loss, o Options) (out []certificate.Lost) {
	out = unknownLosses(h.m)
	tolerates := func(w *workload.Workload) bool { return h.m.Groups[w].Placeable() && l.Tolerates(w) }
	if h.losing == nil || slices.ContainsFunc(h.m.Workloads, tolerates) {
		return out
	}
	if !h.m.Run().Within(h.m.Run().Left(), func() { out = h.lose(l, o) }) {
		h.m.Run().Stops++
		h.losing = nil // it was stopped in the middle
	}
	return out
}

func (h *History) lose(l certificate.Loss, o Options) []certificate.Lost {
	steps, check := budget(h.m, o)
	h.steps = &steps
	out, e := h.answers(l)
	if steps < 0 && !e.mixed() {
		h.m.Run().Stops++
	}
	err := h.checker.Check(l, out, check)
	if errors.Is(err, certificate.ErrTooLong) && slices.ContainsFunc(out, func(o certificate.Lost) bool { return o.Hit > 0 }) { // without the lower bounds in Hit, the check may be short enough
		for i := range out {
			out[i].Hit = 0
		}
		err = h.checker.Check(l, out, check)
	}
	switch {
	case errors.Is(err, certificate.ErrTooLong):
		h.m.Run().Stops++
		return unknownLosses(h.m)
	case err != nil:
		h.m.Run().Refuse(h.m.Workloads, fmt.Errorf("a loss does not hold: %w", err))
		return unknownLosses(h.m)
	}
	return out
}

// losing explores losses. For each state in which no more pods can be placed, it explores all ways to place
// the lost pods again on the remaining nodes.
type losing struct {
	*search
	again []certificate.Loss
	whole bool // set if questions are about the loss of a domain, not of any one node
	// states lists the states in which no more pods can be placed and all pods of some workload run. The
	// first `placed` of them are reached by placing pods only, and if complete is set, there are no others.
	// known has their keys. returned lists states in which nodes have returned and Pending pods may fit.
	states   [][]step
	returned [][]step
	placed   int
	complete bool
	known    map[string]bool
	at       map[int]int // the position of each pod group in the component
	// honours marks the constraints that ignore pods on tainted nodes (R-T3).
	honours  map[*constraint]bool
	episodes map[string]*episode
	absences map[string]*absence
	closing  int // the steps that may still be used to find all states, also those after losses
	// The loss and the nodes that are being explored.
	*episode
	*absence
	rest  []int  // for each pod group, the number of lost pods that no controller recreates
	began []bool // the owners all of whose pods ran before
	gone  []step // placements that the loss removed
	hits  uint64 // bit set of the owners that lose pods in the current state; unused with more than 64 owners
	moved []step // lost pods that are in place again
}

// closingSteps is the maximum number of steps for finding all states.
const closingSteps = 1_600_000

// episode is a loss of some nodes, or of one node of a class.
type episode struct {
	certificate.Loss
	nodes   []int             // nil for one of the class
	of      int               // the class
	visited map[string]uint64 // states already explored after the loss, with the hits that led to them
	done    int               // the number of states from which the loss has been explored
	torn    bool              // set if the steps ended in the middle of one of them
	// ends holds the ends of all runs by owner, and first those that start in states[:placed].
	ends, first []ending
}

// absence holds what is different while certain nodes are lost.
type absence struct {
	lost []bool // by node
	// remain lists each constraint's domains.
	remain map[*constraint][]int
	// to marks, for each pod group, the nodes to which its lost pods may move. Nil stands for all.
	to [][]bool
}

// ending describes the numbers of an owner's pods that are missing at the end of the runs. fewest
// and most are the smallest and the largest number. hit is the smallest number among the runs in
// which the owner loses a pod. struck is set if there is such a run.
type ending struct {
	seen, struck      bool
	fewest, most, hit int
}

// newLosing finds the states that placing pods leads to. It returns nil if the result would depend on facts
// that only the cluster knows.
func newLosing(a *state, domains []map[string]bool, again []certificate.Loss, steps *int) *losing {
	c, sure := a.everything()
	if !sure {
		return nil
	}
	s := &losing{again: again, whole: domains != nil, known: map[string]bool{}, at: map[int]int{}, honours: map[*constraint]bool{}, closing: a.m.Run().Times(closingSteps), episodes: map[string]*episode{}, absences: map[string]*absence{}}
	for _, names := range domains { // keeps their nodes from being treated as equivalent to other nodes
		a.places = append(a.places, lists.Of(a.nodes, func(n *topology.Node) bool { return names[n.Name] }))
	}
	for _, u := range a.units {
		hard := slices.Collect(u.g.Hard(model.Spread))
		for i, c := range u.spreads {
			s.honours[c] = hard[i].HonorsTaints()
		}
		if pin := u.g.Workload.Pin; pin != "" { // where lost pods may move depends on it
			for _, value := range model.SortedKeys(valuesOf(a.nodes, pin)) {
				in := make([]bool, len(a.nodes))
				for n, node := range a.nodes {
					in[n] = node.Labels[pin] == value
				}
				a.places = append(a.places, in)
			}
		}
	}
	s.search = newSearch(a, c, steps)
	s.rest = make([]int, len(c.units))
	for i, u := range c.units {
		s.at[u] = i
	}
	s.ended = func() { s.reach(s.standing(), true) }
	s.complete = s.visit(c.pods)
	s.placed = len(s.states)
	return s
}

// standing lists the pods that are in place when all nodes are there.
func (s *losing) standing() (pods []step) {
	for _, i := range s.c.units {
		u := s.a.units[i]
		for _, n := range u.nodes.list {
			if s.absence != nil && s.Meaning == certificate.Unreachable && s.lost[n] && !u.g.Kind.PerNode() {
				continue // they have terminated
			}
			for range s.a.in[i][n] {
				pods = append(pods, step{i, int(n)})
			}
		}
	}
	for _, v := range s.gone {
		if s.a.units[v.unit].g.Kind.PerNode() && s.Meaning == certificate.Gone {
			pods = append(pods, v)
		}
	}
	return pods
}

// missing returns how many pods of each owner do not run.
func (s *losing) missing() []int {
	missing := make([]int, len(s.c.owners))
	for i := range s.c.units {
		missing[s.c.owner[i]] += s.left[i] + s.rest[i]
	}
	return missing
}

// valuesOf returns the values of a node label.
func valuesOf(nodes []*topology.Node, key string) map[string]bool {
	values := map[string]bool{}
	for _, n := range nodes {
		if value, has := n.Labels[key]; has {
			values[value] = true
		}
	}
	return values
}

// reach records a state, unless it is known or not one in which a loss may begin: all pods of some workload and
// of all DaemonSets run (C16). If it is not settled, Pending pods may fit.
func (s *losing) reach(pods []step, settled bool) {
	missing := s.missing()
	for k, w := range s.c.owners {
		if w.Kind.PerNode() && missing[k] > 0 {
			return
		}
	}
	if slices.Min(missing) > 0 {
		return
	}
	settled = settled || slices.Max(missing) == 0
	on := map[int][]uint64{}
	for _, v := range pods {
		if on[v.node] == nil {
			on[v.node] = make([]uint64, len(s.c.units))
		}
		on[v.node][s.at[v.unit]]++
	}
	s.a.m.Run().Spend(1 + len(pods)/2)
	all := []string{fmt.Sprint(settled)}
	for n, count := range on {
		text := binary.AppendUvarint(nil, uint64(s.classOf(n)))
		for _, x := range count {
			text = binary.AppendUvarint(text, x)
		}
		all = append(all, string(text))
	}
	slices.Sort(all)
	key, to := strings.Join(all, ""), &s.returned
	if settled {
		to = &s.states
	}
	if !s.known[key] {
		s.known[key], *to = true, append(*to, pods)
	}
}

// classOf returns a node's class, whether or not the node is lost.
func (s *losing) classOf(n int) int { return s.class[n] % len(s.a.nodes) }

// episodeOf returns what is known about a loss of some nodes. If there are none, it is a loss of one node of a
// class.
func (s *losing) episodeOf(l certificate.Loss, nodes []int, class int) *episode {
	return lazy.Cached(s.episodes, fmt.Sprint(l.Meaning, nodes, class), func() *episode {
		return &episode{Loss: l, nodes: nodes, of: class, visited: map[string]uint64{}, ends: make([]ending, len(s.c.owners))}
	})
}

// asked returns what is known about a loss in question, and its nodes.
func (s *losing) asked(l certificate.Loss) (e *episode, nodes []int) {
	for n, node := range s.a.nodes {
		if l.Nodes[node.Name] {
			nodes = append(nodes, n)
		}
	}
	if s.whole {
		return s.episodeOf(l, nodes, 0), nodes
	}
	return s.episodeOf(l, nil, s.class[nodes[0]]), nodes
}

// explore follows a loss from the first states, up to a number of them. It returns false if the steps do
// not suffice.
func (s *losing) explore(e *episode, states int, enough func() bool) bool {
	s.episode = e
	for ; e.done < states && !e.torn && !enough(); e.done++ {
		if e.done == s.placed {
			e.first = slices.Clone(e.ends)
		}
		from := s.states[e.done]
		s.set(from, 1)
		s.began = s.began[:0]
		for _, pods := range s.missing() {
			s.began = append(s.began, pods == 0)
		}
		for _, nodes := range s.lossesOf(e) {
			if e.torn = e.torn || !s.loseNodes(nodes); e.torn {
				break
			}
		}
		s.set(from, -1)
	}
	if e.done == s.placed {
		e.first = slices.Clone(e.ends)
	}
	return e.done >= states
}

// set puts the pods of a state in place, or removes them.
func (s *losing) set(pods []step, by int32) {
	for _, v := range pods {
		s.a.change(v.unit, v.node, by)
		s.left[s.at[v.unit]] -= int(by)
	}
	for _, v := range pods {
		s.drop(v.node)
	}
}

// lossesOf lists the nodes that an episode may lose in the current state: one of those with the same pods
// is enough.
func (s *losing) lossesOf(e *episode) (all [][]int) {
	if e.nodes != nil {
		return [][]int{e.nodes}
	}
	var tried []int32
	for n, class := range s.class {
		if class == e.of && !slices.Contains(tried, s.column[n]) {
			tried = append(tried, s.column[n])
			all = append(all, []int{n})
		}
	}
	return all
}

// absent returns what is different while nodes are lost, or nil if the outcome would depend on facts that only
// the cluster knows.
func (s *losing) absent(nodes []int) *absence {
	return lazy.Cached(s.absences, fmt.Sprint(s.Meaning, nodes), func() *absence {
		x := &absence{lost: make([]bool, len(s.a.nodes)), remain: map[*constraint][]int{}}
		for _, n := range nodes {
			x.lost[n] = true
		}
		s.a.m.Run().Spend(len(s.a.nodes) * (1 + len(s.honours)) / model.PerStep)
		for _, u := range s.a.units {
			to, known := model.MayMove(u.g.Workload, s.a.nodes, func(n int) bool { return x.lost[n] })
			if !known {
				return nil
			}
			x.to = append(x.to, to)
			for _, c := range u.spreads { // the domains that still have a counted node after the loss
				x.remain[c] = c.domains
				if s.Meaning != certificate.Gone && !s.honours[c] {
					continue
				}
				left := make([]bool, len(c.count))
				for n, counted := range c.counted {
					if counted && !x.lost[n] {
						left[s.a.domain[c.key][n]] = true
					}
				}
				x.remain[c] = slices.DeleteFunc(slices.Clone(c.domains), func(d int) bool { return !left[d] })
			}
		}
		return x
	})
}

// mixed reports whether every owner ends up complete in some run and incomplete in another.
func (e *episode) mixed() bool {
	return !slices.ContainsFunc(e.ends, func(e ending) bool { return !e.seen || e.fewest > 0 || e.most == 0 })
}

// settled reports whether nothing about a loss is left to find.
func (e *episode) settled() bool {
	return !slices.ContainsFunc(e.ends, func(e ending) bool { return !e.seen || e.fewest > 0 || e.most == 0 || !e.struck || e.hit > 0 })
}

// loseNodes removes nodes from the current state, explores all repairs, and puts the nodes back. It
// returns false if the steps end.
func (s *losing) loseNodes(nodes []int) bool {
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	if s.absence = s.absent(nodes); s.absence == nil {
		return false
	}
	if s.hits = 0; len(s.ends) <= 64 {
		for i, u := range s.c.units {
			for _, n := range nodes {
				if s.a.in[u][n] > 0 && !s.a.units[u].g.Kind.PerNode() {
					s.hits |= 1 << s.c.owner[i]
				}
			}
		}
	}
	apply := s.applyLoss
	if s.Stepwise {
		apply = s.cordon
	}
	mark := func(by int) {
		for _, n := range nodes {
			s.class[n] += by * len(s.a.nodes)
			s.drop(n)
		}
	}
	mark(1)
	apply(-1)
	s.swap()
	ok := s.repair()
	s.swap()
	apply(1)
	mark(-1)
	return ok
}

// cordon subtracts the pods on lost nodes from the counts of spread constraints that ignore tainted
// nodes. It can also add the pods back.
func (s *losing) cordon(by int32) {
	for _, i := range s.c.units {
		for _, n := range s.a.units[i].nodes.list {
			for range s.onLost(i, int(n)) {
				s.count(step{i, int(n)}, by, true)
			}
		}
	}
}

// onLost returns how many of a pod group's pods are on a node, or 0 if the node is not lost.
func (s *losing) onLost(i, n int) int32 {
	if !s.lost[n] {
		return 0
	}
	return s.a.in[i][n]
}

// exploreEvictions explores each eviction that is possible next. The result any reports whether
// there is one. ok is false if the budget is exhausted.
func (s *losing) exploreEvictions() (any, ok bool) {
	missing := func(w *workload.Workload) (pods int) { // missing pods of an owner
		for i := range s.c.units {
			if s.c.owners[s.c.owner[i]] == w {
				pods += s.left[i] + s.rest[i]
			}
		}
		return pods
	}
	for i, u := range s.c.units {
		g := s.a.units[u].g
		if g.Kind.PerNode() || !s.Evicts(g, missing) {
			continue
		}
		for _, n := range s.a.units[u].nodes.list {
			if s.onLost(u, int(n)) == 0 {
				continue
			}
			any = true
			if !s.exploreAfterEviction(i, step{u, int(n)}, &s.rest[i]) {
				return true, false
			}
		}
	}
	return any, true
}

// exploreAfterEviction explores the state after a pod is evicted. The old pod may satisfy the
// required affinity of its replacement while it is still terminating. In this case,
// exploreAfterEviction also explores the states in which the replacement is already placed.
func (s *losing) exploreAfterEviction(i int, v step, rest *int) bool {
	was := s.column[v.node]
	g := s.a.units[v.unit].g
	if s.CreatedAgain(g) {
		rest = &s.left[i]
	}
	*rest++
	s.remove(v, -1)
	ok := s.repair()
	s.remove(v, 1)
	if ok && s.Overlaps(g) && len(s.a.units[v.unit].affinityKeys) > 0 {
		ok = s.overlaps(i, v)
	}
	*rest--
	s.column[v.node] = was
	return ok
}

// remove takes a pod off its lost node, or puts it back.
func (s *losing) remove(v step, by int32) {
	s.count(v, -by, true) // the constraints that ignore tainted nodes have already dropped it
	s.a.change(v.unit, v.node, by)
	s.drop(v.node)
}

// overlaps explores the states in which a terminating pod's replacement is already placed. It tries
// each node that accepts the replacement. Only spread constraints ignore a terminating pod (R-A1,
// R-T4, T23).
func (s *losing) overlaps(i int, v step) bool {
	var tried []int32
	for _, n := range s.a.units[v.unit].nodes.list {
		n := int(n)
		was := s.column[n]
		if !s.mayTake(v.unit, n) || slices.Contains(tried, was) {
			continue
		}
		tried = append(tried, was)
		if *s.steps--; *s.steps < 0 {
			return false
		}
		s.ignore(v, -1)
		takes := s.a.takes(v.unit, n)
		s.ignore(v, 1)
		if !takes {
			continue
		}
		s.remove(v, -1)
		ok := s.replace(i, v.unit, n)
		s.remove(v, 1)
		if !ok {
			return false
		}
	}
	return true
}

// ignore subtracts a pod on a lost node from the spread constraints that still count the pod. It
// can also add the pod back.
func (s *losing) ignore(v step, by int32) {
	s.count(v, -by, true)
	s.count(v, by, false)
}

// swap exchanges the constraints' domains with the domains after the loss. A second call restores
// the domains.
func (s *losing) swap() {
	for c, left := range s.remain {
		s.remain[c], c.domains = c.domains, left
	}
}

// applyLoss applies the loss to every pod on the lost nodes if by is -1. If by is 1, it reverts the
// loss.
func (s *losing) applyLoss(by int32) {
	if by > 0 {
		for _, v := range slices.Backward(s.gone) {
			s.applyPodLoss(v, by)
		}
		s.gone = s.gone[:0]
		return
	}
	for i, u := range s.a.units {
		for _, n := range u.nodes.list {
			if !s.lost[n] {
				continue
			}
			pods := int32(0)
			switch {
			case u.g.Running:
				pods = 1
			case s.a.in[i] != nil:
				pods = s.a.in[i][n]
			}
			for range pods {
				s.gone = append(s.gone, step{i, int(n)})
			}
		}
	}
	for _, v := range s.gone {
		s.applyPodLoss(v, by)
	}
}

func (s *losing) applyPodLoss(v step, by int32) {
	u := s.a.units[v.unit]
	daemon := u.g.Kind.PerNode()
	switch {
	case daemon && s.Meaning != certificate.Gone:
		s.count(v, by, true) // the pod stays, because it tolerates the taint
		return
	case s.Meaning == certificate.Unreachable:
		s.count(v, by, false)
	default:
		s.a.change(v.unit, v.node, by)
		s.drop(v.node)
	}
	if u.g.Running || daemon {
		return
	}
	i := slices.Index(s.c.units, v.unit)
	if s.CreatedAgain(u.g) {
		s.left[i] -= int(by)
	} else {
		s.rest[i] -= int(by)
	}
}

// count adds the argument by to the counts of the spread constraints that count pod v. If honouring
// is set, it changes only constraints that ignore pods on tainted nodes.
func (s *losing) count(v step, by int32, honouring bool) {
	for _, c := range s.a.watchers[v.unit] {
		if c.counted[v.node] && s.a.inPlace(v.node, c.place) && (!honouring || s.honours[c.constraint]) {
			c.constraint.count[s.a.domain[c.key][v.node]] += by
		}
	}
}

// repair explores all ways to place the lost pods again from the current state. If Stepwise is set,
// it also explores further evictions. It returns false if the budget is exhausted.
func (s *losing) repair() bool {
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	text := s.key()
	for _, began := range s.began {
		text = append(text, 0)
		if began {
			text[len(text)-1] = 1
		}
	}
	for _, pods := range s.rest {
		text = binary.AppendUvarint(text, uint64(pods))
	}
	key := string(text)
	if seen, known := s.visited[key]; known && s.hits&^seen == 0 {
		return true
	}
	s.visited[key] |= s.hits
	maximal := true
	for i, u := range s.c.units {
		if s.left[i] == 0 || s.a.units[u].waits() {
			continue
		}
		var few [16]int32
		tried := few[:0]
		for _, n := range s.a.units[u].nodes.list {
			n := int(n)
			was := s.column[n]
			if !s.mayTake(u, n) || slices.Contains(tried, was) {
				continue
			}
			tried = append(tried, was)
			if *s.steps--; *s.steps < 0 {
				return false
			}
			if !s.a.takes(u, n) {
				continue
			}
			maximal = false
			if !s.replace(i, u, n) {
				return false
			}
		}
	}
	if s.Stepwise {
		any, ok := s.exploreEvictions()
		if !ok {
			return false
		}
		maximal = maximal && !any
	}
	if maximal {
		s.end()
	}
	return true
}

// mayTake reports whether a lost pod of a pod group may be placed again on a node, as far as the loss
// and the pod's volumes are concerned.
func (s *losing) mayTake(unit, n int) bool {
	return !s.lost[n] && (s.to[unit] == nil || s.to[unit][n])
}

// replace places a lost pod again, explores the resulting state, and removes the pod.
func (s *losing) replace(i, u, n int) bool {
	was := s.column[n]
	s.a.place(u, n)
	s.put(i, n)
	s.left[i]--
	s.moved = append(s.moved, step{u, n})
	ok := s.repair()
	s.moved = s.moved[:len(s.moved)-1]
	s.left[i]++
	s.column[n] = was
	s.a.unplace(u, n)
	return ok
}

// end records a state in which no more pods can be placed. If a workload has all of its pods, the nodes return.
func (s *losing) end() {
	missing := s.missing()
	for _, v := range s.moved {
		if s.Hangs(s.a.units[v.unit].g.Workload) {
			missing[s.c.owner[s.at[v.unit]]]++
		}
	}
	for k := range s.ends {
		e := &s.ends[k]
		if !s.began[k] {
			continue
		}
		if !e.seen {
			e.seen, e.fewest = true, missing[k]
		}
		e.fewest, e.most = min(e.fewest, missing[k]), max(e.most, missing[k])
		if s.hits>>k&1 == 1 && (!e.struck || missing[k] < e.hit) {
			e.struck, e.hit = true, missing[k]
		}
	}
	if len(s.again) > 0 && s.nodes == nil && slices.Min(missing) == 0 {
		s.reach(s.standing(), false)
	}
}

// answers returns the result of a loss for each workload. Always also covers the states after other
// losses, and never only those that placing pods leads to.
func (s *losing) answers(l certificate.Loss) (all []certificate.Lost, e *episode) {
	e, _ = s.asked(l)
	start, after := *s.steps, -1
	whole := s.explore(e, s.placed, func() bool {
		if after < 0 && e.mixed() { // finding the hits may take as many steps again
			after = start - 2*(start-*s.steps) - 1_000
		}
		return e.settled() || *s.steps < after
	}) && s.complete && s.placed > 0
	closed := len(s.again) == 0
	if whole && !closed && slices.ContainsFunc(e.first, func(e ending) bool { return e.seen && e.most == 0 }) {
		closed = s.close() && s.explore(e, len(s.states), func() bool { return false })
	}
	for k, w := range s.c.owners {
		x, o := &e.ends[k], certificate.Lost{Workload: w, Verdict: diag.Unknown}
		switch {
		case whole && e.first[k].fewest > 0:
			o.Verdict, o.Pending = diag.Never, e.first[k].fewest
		case x.seen && x.fewest == 0 && x.most > 0:
			o.Verdict, o.Pending = diag.Sometimes, x.most
			if whole {
				o.Hit, o.Later = e.first[k].hit, e.first[k].seen && e.first[k].most == 0
			}
		case whole && closed && x.seen && x.most == 0:
			o.Verdict = diag.Always
		}
		all = append(all, o)
	}
	return all, e
}

// close finds all states, also those after losses. It returns false if its steps do not suffice.
func (s *losing) close() bool {
	asked := s.steps
	defer func() { s.steps = asked }()
	s.steps = &s.closing
	classes := slices.Compact(slices.Sorted(slices.Values(s.class)))
	for n := 0; n < len(s.states) || len(s.returned) > 0; {
		for ; len(s.returned) > 0; s.returned = s.returned[1:] {
			s.absence, s.gone = nil, s.gone[:0]
			s.set(s.returned[0], 1)
			left := 0
			for _, pods := range s.left {
				left += pods
			}
			ok := s.visit(left)
			if s.set(s.returned[0], -1); !ok {
				return false
			}
		}
		n = len(s.states)
		for _, class := range classes {
			for _, l := range s.again {
				if !s.explore(s.episodeOf(l, nil, class), n, func() bool { return false }) {
					return false
				}
			}
		}
	}
	return true
}

// unknownLosses returns an unknown verdict for every workload that may be placed.
func unknownLosses(m *model.Model) []certificate.Lost {
	var all []certificate.Lost
	for g := range m.Placeable() {
		all = append(all, certificate.Lost{Workload: g.Workload, Verdict: diag.Unknown})
	}
	return all
}
