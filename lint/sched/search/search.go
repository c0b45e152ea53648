package search

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/workload"
)

// outcome is the result for one component: how many pods its maximal states have, in total and per
// owner.
type outcome struct {
	component
	most, least int
	// ownMost and ownLeast hold most and least for each owner, in the order of component.owners.
	ownMost, ownLeast []int
	// always is set if every maximal state is complete, and never if none is. decided is set if the
	// verdict is certain. If exact is not set, most and least are only bounds on the number of
	// placed pods.
	always, never, decided, exact bool
	// large is set if the component is too large to search. spent is set if the budget ran out.
	// refuted is set if a certificate failed.
	large, spent, refuted bool
	// coarse is set if only verdicts about single workloads were settled, because the component is
	// large.
	coarse bool
	// best and worst are the runs that place the most and the fewest pods.
	best, worst []step
	// proof justifies an always or never verdict. sure holds how many pods of a group are always
	// placed, if this is not proved for all of them.
	proof certificate.Proof
	sure  map[int]int
	// shown holds what runs show about each owner.
	shown []shown
}

// step is one placement of a pod.
type step struct{ unit, node int }

// search explores all reachable states within the budget.
type search struct {
	c     component
	left  []int // pods of each group that still need to be placed
	seen  map[string]bool
	path  []step
	out   outcome
	first bool
	steps *int // remaining budget
	// whole, if not nil, is called in every state in which all pods are placed. The search stops if
	// it returns false. ended, if not nil, is called in every state in which no more pods can be placed.
	whole func() bool
	// short is set if whole is called for every maximal state.
	short bool
	ended func()
	columns
}

// newSearch returns a search that starts at the instance's current state.
func newSearch(a *state, c component, steps *int) *search {
	for _, i := range c.units {
		a.in[i] = make([]int32, len(a.nodes))
	}
	s := &search{c: c, seen: map[string]bool{}, first: true, steps: steps, columns: newColumns(a, c)}
	s.out = outcome{component: c, ownMost: make([]int, len(c.owners)), ownLeast: make([]int, len(c.owners)), least: c.pods, never: true, always: true}
	s.left = make([]int, len(c.units))
	for i, u := range c.units {
		s.left[i] = a.units[u].pods
		s.out.ownLeast[c.owner[i]] += s.left[i]
	}
	return s
}

// close releases the counts that the instance keeps for this search.
func (s *search) close() {
	for _, i := range s.c.units {
		s.a.in[i] = nil
	}
}

// visit explores from the current state. It reports whether the search may continue: some steps
// must be left, and whole must not have stopped the search.
func (s *search) visit(left int) bool {
	s.a.m.Run().Spend(2 + len(s.a.nodes)/model.PerStep)
	if *s.steps -= len(s.a.nodes); *s.steps < 0 {
		return false
	}
	key := s.key()
	if s.seen[string(key)] {
		return true
	}
	s.seen[string(key)] = true
	maximal := true
	for i, u := range s.c.units {
		if s.left[i] == 0 {
			continue
		}
		var few [16]int32
		tried := few[:0]
		for _, n := range s.a.units[u].nodes.list {
			n := int(n)
			was := s.column[n]
			if slices.Contains(tried, was) {
				continue // equivalent nodes accept the same pods, so trying one of them is enough
			}
			tried = append(tried, was)
			if *s.steps--; *s.steps < 0 {
				return false
			}
			if !s.a.takes(u, n) {
				continue
			}
			maximal = false
			s.a.place(u, n)
			s.left[i]--
			s.path = append(s.path, step{u, n})
			s.put(i, n)
			ok := s.visit(left - 1)
			s.column[n] = was
			s.path = s.path[:len(s.path)-1]
			s.left[i]++
			s.a.unplace(u, n)
			if !ok {
				return false
			}
		}
	}
	if maximal {
		s.maximal(left)
		if s.ended != nil {
			s.ended()
		}
	}
	return !maximal || left > 0 && !s.short || s.whole == nil || s.whole()
}

// maximal records a state in which no more pods can be placed.
func (s *search) maximal(left int) {
	placed := s.c.pods - left
	o := &s.out
	if s.first || placed > o.most {
		o.most, o.best = placed, slices.Clone(s.path)
	}
	if s.first || placed < o.least {
		o.least, o.worst = placed, slices.Clone(s.path)
	}
	own := make([]int, len(s.c.owners))
	for i, u := range s.c.units {
		own[s.c.owner[i]] += s.a.units[u].pods - s.left[i]
	}
	for i, got := range own {
		o.ownMost[i], o.ownLeast[i] = max(o.ownMost[i], got), min(o.ownLeast[i], got)
	}
	o.never = o.never && left > 0
	o.always = o.always && left == 0
	s.first = false
}

// columns assigns numbers to node contents. Two nodes have the same number if they are equivalent
// and hold the same number of pods of each group. The key of a state is the sorted list of numbers
// for the nodes that hold pods, so node names do not matter.
type columns struct {
	a      *state
	units  []int
	class  []int
	column []int32 // content number of each node
	empty  []int32 // content number of each node when empty
	number map[string]int32
	// then caches, by content number and pod group, the content number after one more pod of the
	// group is added. 0 means not computed yet.
	then []int32
	// Reusable buffers for building keys.
	numbers []int32
	text    []byte
}

func newColumns(a *state, c component) columns {
	s := columns{a: a, units: c.units, class: nodeClasses(a, c), number: map[string]int32{}, then: make([]int32, len(c.units))}
	s.column = make([]int32, len(a.nodes))
	for n := range a.nodes {
		s.column[n] = s.enter(n)
	}
	s.empty = slices.Clone(s.column)
	return s
}

// enter returns the number for a node's contents, counting from 1.
func (s *columns) enter(n int) int32 {
	s.text = binary.AppendUvarint(s.text[:0], uint64(s.class[n]))
	for _, u := range s.units {
		s.text = binary.AppendUvarint(s.text, uint64(s.a.in[u][n]))
	}
	id := s.number[string(s.text)]
	if id == 0 {
		id = int32(len(s.number) + 1)
		s.number[string(s.text)] = id
		s.then = append(s.then, make([]int32, len(s.units))...)
	}
	return id
}

// put records that a pod of the component's i-th group was placed on node n.
func (s *columns) put(i, n int) {
	at := int(s.column[n])*len(s.units) + i
	id := s.then[at]
	if id == 0 {
		id = s.enter(n)
		s.then[at] = id
	}
	s.column[n] = id
}

// drop records that a pod was removed from node n.
func (s *columns) drop(n int) { s.column[n] = s.enter(n) }

// key returns the same bytes for states that differ only in the names of equivalent nodes. The
// result is valid until the next call.
func (s *columns) key() []byte {
	s.numbers = s.numbers[:0]
	for n, id := range s.column {
		if id != s.empty[n] {
			s.numbers = append(s.numbers, id)
		}
	}
	slices.Sort(s.numbers)
	s.text = s.text[:0]
	for _, id := range s.numbers {
		s.text = binary.AppendUvarint(s.text, uint64(id))
	}
	return s.text
}

// nodeClasses numbers the nodes so that nodes with equal numbers are equivalent for the pod groups:
// they pass the same filters and have the same resources and domains. Single-node domains count as
// equal, because only pods on the node itself can tell them apart.
func nodeClasses(a *state, c component) []int {
	alone := make([]map[int32]int, len(a.keys))
	for k := range a.keys {
		alone[k] = map[int32]int{}
		for n := range a.nodes {
			alone[k][a.domain[k][n]]++
		}
	}
	a.m.Run().Spend(len(a.nodes) * (1 + (len(c.units)+len(a.keys)+len(a.resources)+len(a.portsOn)+len(a.units))/model.PerStep))
	numbers := map[string]int{}
	class := make([]int, len(a.nodes))
	for n := range a.nodes {
		var b []byte
		for _, i := range c.units {
			u := a.units[i]
			b = append(b, flag(u.nodes.holds(n)))
			for _, s := range u.spreads {
				b = append(b, flag(s.counted[n]))
			}
		}
		for _, p := range a.places[1:] {
			b = append(b, flag(p[n]))
		}
		for k := range a.keys {
			d := a.domain[k][n]
			if d >= 0 && alone[k][d] == 1 {
				d = -2
			}
			b = binary.AppendVarint(b, int64(d))
		}
		for _, free := range a.left(n) {
			b = binary.AppendVarint(b, free)
		}
		// Running pods use ports on the node, and may close domains that contain only this node.
		for p, c := range a.portsOn {
			if c.at(int32(n)) > 0 {
				b = binary.AppendVarint(b, int64(-1-p))
			}
		}
		for i, u := range a.units {
			if u.g.Running && u.nodes.holds(n) {
				b = binary.AppendVarint(b, int64(i))
			}
		}
		if _, ok := numbers[string(b)]; !ok {
			numbers[string(b)] = len(numbers)
		}
		class[n] = numbers[string(b)]
	}
	return class
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// confirm replays a decision's runs. A run that fails reveals a bug in schedlint, and no verdict
// that depends on it may be reported. The components with failing runs become unknown. All
// components become unknown if the others cannot be verified on their own or if the replay takes
// too long.
func confirm(m *model.Model, d *certificate.Decision) {
	var err error
	if m.Run().Within(m.Altogether(), func() { err = certificate.CheckerOf(m).Verify(m, d) }) && err == nil {
		return
	}
	if err == nil {
		withdrawVerdicts(m, d, nil, model.ByBudget)
		return
	}
	var blamed map[*workload.Workload]bool
	rest := *d
	sound := false
	m.Run().Within(m.Altogether(), func() {
		blamed = blame(m, d)
		rest.Workloads = slices.Clone(d.Workloads)
		withdrawVerdicts(m, &rest, blamed, model.ByFault)
		sound = certificate.CheckerOf(m).Verify(m, &rest) == nil
	})
	if !sound || len(blamed) == 0 {
		m.Run().Refuse(m.Workloads, err)
		withdrawVerdicts(m, d, nil, model.ByFault)
		return
	}
	m.Run().Refuse(m.InOrder(blamed, nil), err)
	*d = rest
}

// blame returns the workloads in every component whose run fails when it is replayed alone.
func blame(m *model.Model, d *certificate.Decision) map[*workload.Workload]bool {
	blamed, asked := map[*workload.Workload]bool{}, map[*workload.Workload]bool{}
	for i := range d.Workloads {
		if w := d.Workloads[i].Workload; !asked[w] {
			group := together(d, w)
			maps.Copy(asked, group)
			holds := func(run []certificate.Placed) bool {
				m.Run().Spend(len(run))
				others := func(p certificate.Placed) bool { return !group[m.Groups[p.Workload].Origin()] }
				return certificate.CheckerOf(m).Replay(m, slices.DeleteFunc(slices.Clone(run), others)) == nil
			}
			if !holds(d.Witness) || d.Stuck != nil && !holds(d.Stuck.Placements) {
				maps.Copy(blamed, group)
			}
		}
	}
	return blamed
}

// withdrawVerdicts withdraws the verdicts on the given workloads, and everything that depends on
// these verdicts. If no workloads are given, it withdraws all verdicts.
func withdrawVerdicts(m *model.Model, d *certificate.Decision, some map[*workload.Workload]bool, cause model.Cause) {
	open := func(w *workload.Workload) bool { return len(some) == 0 || some[w] }
	d.Verdict, d.RulesVerdict, d.Exact, d.MaxPlaced, d.MinPlaced = diag.Unknown, diag.Unknown, false, 0, 0
	for i := range d.Workloads {
		w := &d.Workloads[i]
		if open(w.Workload) {
			w.Verdict, w.RulesVerdict, w.Why, w.MaxPlaced, w.MinPlaced = diag.Unknown, diag.Unknown, model.Reason{Cause: cause}, w.Pods, 0
		}
		if w.Verdict == diag.Never {
			d.Verdict = diag.Never
		}
		if w.RulesVerdict == diag.Never {
			d.RulesVerdict = diag.Never
		}
		d.MaxPlaced, d.MinPlaced = d.MaxPlaced+w.MaxPlaced, d.MinPlaced+w.MinPlaced
	}
	d.Stuck = nil
	if len(some) == 0 {
		d.Witness = nil
		return
	}
	d.Witness = slices.DeleteFunc(slices.Clone(d.Witness), func(p certificate.Placed) bool { return open(m.Groups[p.Workload].Origin()) })
}

// hold checks the proofs for all outcomes. An outcome becomes undecided if its proof fails or
// cannot be checked within the component's budget.
func hold(m *model.Model, d *decided, o Options) {
	h := holding{m: m, a: d.a, o: o, v: certificate.CheckerOf(m).Proofs(m, d.a.contend)}
	for i := range d.outcomes {
		out := &d.outcomes[i]
		if out.decided && (out.always || out.never) {
			switch err, done := h.check(out, h.a.assertion(out)); {
			case !done:
				out.withdraw()
				m.Run().Stops++
				out.spent, out.large = true, false
			case errors.Is(err, certificate.ErrTooLong):
				m.Run().Stops++
				out.withdraw()
			case err != nil:
				m.Run().Refuse(unmerge(m, out.owners), err)
				out.withdraw()
				out.refuted, out.large = true, false
			}
		}
		if len(out.sure) > 0 && !out.exact {
			h.sure(out)
		}
		h.shown(out)
	}
	d.proofs = h.v
}

// holding tracks the progress of checking one decision's proofs.
type holding struct {
	m *model.Model
	a *state
	o Options
	v certificate.Proofs
}

// check checks an assertion about a component within its budget. A verifier that was stopped may be
// in the middle of a run, so check replaces it.
func (h *holding) check(out *outcome, a *certificate.Assertion) (err error, done bool) {
	done = h.m.Run().Within(h.m.Bounds(unmerge(h.m, out.owners)), func() {
		_, steps := budget(h.m, h.o)
		err = h.v.Check(a, steps)
	})
	if !done || err != nil && !errors.Is(err, certificate.ErrTooLong) {
		h.v = certificate.CheckerOf(h.m).Proofs(h.m, h.a.contend)
	}
	return err, done
}

// sure confirms that the pod groups in out.sure always find a node, and raises the lower bounds on
// placed pods accordingly (T21). Proofs by prices take long. Unless others build on them, they are
// confirmed one owner at a time, so that the first ones count even if the steps run out.
func (h *holding) sure(out *outcome) {
	at, priced := map[int]int{}, make([]bool, len(out.owners))
	for k, i := range out.units {
		at[i] = k
		owner := out.owner[k]
		_, some := out.sure[i]
		priced[owner] = priced[owner] || some && len(out.proof.Prices[i]) > 0
	}
	if !out.coarse && slices.ContainsFunc(out.units, func(i int) bool { return len(h.a.units[i].affinityKeys) > 0 }) {
		clear(priced)
	}
	confirm := func(wanted func(owner int) bool) {
		a := &certificate.Assertion{Proof: certificate.Proof{Kind: certificate.Headroom}}
		sure := make([]int, len(out.owners))
		for _, i := range sorting.Keys(out.sure) {
			if owner := out.owner[at[i]]; wanted(owner) {
				member := h.a.member(i, out)
				member.Pods, member.Open = out.sure[i], nil
				a.Members = append(a.Members, member)
				sure[owner] += member.Pods
			}
		}
		if len(a.Members) == 0 {
			return
		}
		switch err, done := h.check(out, a); {
		case !done:
			h.m.Run().Stops++
		case err != nil:
			h.m.Run().Refuse(unmerge(h.m, out.owners), err)
		default:
			for k := range sure {
				out.ownLeast[k] = max(out.ownLeast[k], sure[k])
			}
		}
	}
	steps := sureShare * h.m.Bounds(unmerge(h.m, out.owners))
	if out.coarse {
		steps = h.m.Run().Times(coarseSteps)
	}
	h.m.Run().Within(steps, func() {
		confirm(func(owner int) bool { return !priced[owner] })
		for k := range out.owners {
			if priced[k] && h.o.asks(h.a.m, out.owners[k]) {
				confirm(func(owner int) bool { return owner == k })
			}
		}
	})
	pods := 0
	for _, least := range out.ownLeast {
		pods += least
	}
	out.least = max(out.least, pods)
}

// withdraw removes a verdict that cannot be confirmed, and everything that depends on the verdict.
// The runs stay, because each of them is checked separately.
func (o *outcome) withdraw() {
	o.always, o.never, o.decided, o.exact, o.large = false, false, false, false, true
	o.most, o.least = o.pods, 0
	clear(o.ownLeast)
	copy(o.ownMost, o.declared)
}

// shown replays the runs that settle workloads, and drops those that do not hold. Owners that the
// same run leaves short are confirmed together.
func (h *holding) shown(out *outcome) {
	same := map[*step][]int{}
	var runs []*step
	for k := range out.shown {
		if s := &out.shown[k]; s.short != nil {
			if same[&s.short[0]] == nil {
				runs = append(runs, &s.short[0])
			}
			same[&s.short[0]] = append(same[&s.short[0]], k)
		}
	}
	sound := func(f func() error) bool {
		var err error
		done := h.m.Run().Within(h.m.Bounds(unmerge(h.m, out.owners)), func() { err = f() })
		if err != nil {
			h.m.Run().Refuse(unmerge(h.m, out.owners), err)
		}
		return done && err == nil
	}
	for _, run := range runs {
		if !sound(func() error { return h.strands(out, same[run]) }) {
			for _, k := range same[run] {
				out.shown[k] = shown{}
			}
		}
	}
	for k := range out.shown {
		if s := &out.shown[k]; s.full != nil && !sound(func() error { return certificate.CheckerOf(h.m).Replay(h.m, h.a.placed(s.full)) }) {
			*s = shown{}
		}
	}
}

// strands checks that a run leaves pods of the owners without a node.
func (h *holding) strands(out *outcome, owners []int) error {
	short := out.shown[owners[0]].short
	stuck := &certificate.Stuck{Placements: h.a.placed(short)}
	placed := map[int]int{}
	for _, x := range short {
		placed[x.unit]++
	}
	for _, k := range owners {
		w := out.owners[k]
		if !w.Kind.PerNode() {
			continue
		}
		for _, i := range h.a.unitsOf[w] { // its pods on nodes outside of the component are in place
			if u := h.a.units[i]; !slices.Contains(out.units, i) && h.a.takes(i, u.pinned) {
				stuck.Placements = append(stuck.Placements, certificate.Placed{Workload: u.g.Workload, Node: h.a.nodes[u.pinned]})
			}
		}
	}
	for j, i := range out.units {
		if slices.Contains(owners, out.owner[j]) && placed[i] < h.a.units[i].pods {
			stuck.Pending = append(stuck.Pending, certificate.Pending{Workload: h.a.units[i].g.Workload, Count: h.a.units[i].pods - placed[i]})
		}
	}
	return certificate.CheckerOf(h.m).Certify(h.m, stuck)
}

// member describes a pod group of an outcome to the checker.
func (a *instance) member(i int, o *outcome) certificate.Member {
	u := a.units[i]
	m := certificate.Member{G: u.g, Pods: u.pods, Node: -1, Open: o.proof.Open[i], Prices: o.proof.Prices[i]}
	if u.g.Kind.PerNode() {
		m.Node = u.pinned
	}
	return m
}

// assertion converts a component's outcome into a claim for the checker.
func (a *instance) assertion(o *outcome) *certificate.Assertion {
	claim := &certificate.Assertion{Never: o.never, Proof: o.proof}
	for _, i := range o.units {
		claim.Members = append(claim.Members, a.member(i, o))
	}
	for _, i := range o.proof.About {
		claim.About = append(claim.About, a.member(i, o))
	}
	return claim
}
