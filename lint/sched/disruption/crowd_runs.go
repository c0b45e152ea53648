package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// followed holds what runs with one loss show: for each workload, a run after which none of its pods
// is missing, and one after which some are.
type followed struct {
	loss certificate.Loss
	lost []bool // by node
	// then is a board without the lost nodes, if they no longer count, or nil.
	then      *board
	rounds    int
	good, bad map[*workload.Workload][]certificate.Move
}

// board has the pods of a crowd on nodes.
type board struct {
	*search.Board
	m     *model.Model
	units []search.Unit
	of    map[*workload.Workload][]int // units by workload
	// torn is set while a run is made. It stays set if the steps end in the middle.
	torn bool
}

func newBoard(m *model.Model) *board {
	b := &board{Board: search.NewBoard(m), m: m, of: map[*workload.Workload][]int{}}
	b.units = b.Units()
	for i, u := range b.units {
		b.of[u.Group.Workload] = append(b.of[u.Group.Workload], i)
	}
	return b
}

// maxRounds is the maximum number of random placements from which runs of a change start. maxAimed is the
// maximum number of placements that are built against one workload.
const maxRounds, maxAimed = 40, 12

// onBoard calls a function that places pods on the board and removes them again.
func (c *crowd) onBoard(use func()) {
	if c.board == nil || c.board.torn {
		c.board = newBoard(c.m)
	}
	before := c.m.Run().Spent()
	c.board.torn = true
	use()
	c.board.torn = false
	c.steps -= c.m.Run().Spent() - before
}

// follow makes runs with a loss, until one leaves pods of w Pending and another does not, which the
// checker confirms (T25). It returns Sometimes or Unknown. What the runs show about other workloads is
// kept.
func (c *crowd) follow(w *workload.Workload, l certificate.Loss, nodes []string) answer {
	unknown := answer{verdict: diag.Unknown}
	f := lazy.Cached(c.followed, fmt.Sprintf("%s %q", l.Meaning, nodes), func() *followed {
		f := &followed{loss: l, good: map[*workload.Workload][]certificate.Move{}, bad: map[*workload.Workload][]certificate.Move{}}
		f.loss.Nodes = lists.Set(nodes)
		var left []*topology.Node
		for _, n := range c.m.Topology.Nodes {
			if f.lost = append(f.lost, f.loss.Nodes[n.Name]); !f.loss.Nodes[n.Name] {
				left = append(left, n)
			}
		}
		if l.Meaning == certificate.Gone && len(left) > 0 && len(search.HardKeys(c.m, c.ws, model.Spread)) > 0 {
			if m := c.m.Variant(c.ws, left); m.Split() == m {
				f.then = newBoard(m)
			}
		}
		return f
	})
	if f.then != nil && f.then.torn {
		f.then = newBoard(f.then.m)
	}
	for c.steps > 0 && f.rounds < maxRounds && (f.good[w] == nil || f.bad[w] == nil) {
		c.onBoard(func() {
			c.place(f.rounds, f.lost, func(x *filling) { f.lose(c, x) })
		})
		f.rounds++
	}
	for round := 0; c.steps > 0 && round < maxAimed && f.good[w] != nil && f.bad[w] == nil; round++ {
		c.onBoard(func() { c.aim(w, f, rand.New(rand.NewPCG(uint64(round), 2))) })
	}
	if f.good[w] == nil || f.bad[w] == nil {
		return unknown
	}
	certify := func(run []certificate.Move) int {
		missing, err := certificate.CheckerOf(c.m).Follow(c.m, f.loss, run)
		if pods, whole := missing[w]; err == nil && whole {
			return pods
		}
		return -1
	}
	if pending := certify(f.bad[w]); pending > 0 && certify(f.good[w]) == 0 {
		return answer{verdict: diag.Sometimes, pending: pending}
	}
	return unknown
}

// atOnce sets the budgets that a drain respects. It returns false if the pods on lost nodes may not all
// go at once, or may not find the nodes that their rules and requests allow.
func (c *crowd) atOnce(l *certificate.Loss) bool {
	for o, as := range c.of {
		if o.Kind.PerNode() {
			continue
		}
		if c.j.m.PinOf(o).Key != "" || l.Meaning == certificate.Drained && o.Kind.VM {
			return false
		}
		if l.Meaning != certificate.Drained {
			continue
		}
		answer, _, _ := c.j.evictable(o)
		switch budgets := c.j.BudgetsOf(o); {
		case answer == diag.Always && len(budgets) == 0:
		case answer == diag.Never:
			l.Guards = append(l.Guards, certificate.Guard{Workload: as})
		case answer == diag.Always && len(budgets) == 1 && len(budgets[0].Workloads) == 1 && budgets[0].SelectsAllOf(o):
			l.Guards = append(l.Guards, certificate.Guard{Workload: as, Allowed: budgets[0].AllowedMin})
		default:
			return false
		}
	}
	return true
}

// place places all pods in the order and on the nodes of a round, calls then with the run, and takes the
// pods away again. lost marks nodes that some workloads prefer or avoid. If the pods do not all fit, the run
// ends where no more do.
func (c *crowd) place(round int, lost []bool, then func(*filling)) {
	d := rand.New(rand.NewPCG(uint64(round), 1))
	order := slices.Clone(c.largest)
	if round%2 == 1 {
		d.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	}
	const tries = 4 // with what finds no node first
	for try := 1; ; try++ {
		f := c.filling(d)
		if f.daemons(every) != nil {
			f.undo()
			return
		}
		last := f.rest(order, func(*workload.Workload) (bool, int, func(int32) bool) {
			any, first, prefer := d.IntN(2) == 0, d.IntN(1+len(lost)), d.IntN(3)
			return any, first, func(n int32) bool { return prefer == 0 && lost[n] || prefer == 1 && !lost[n] }
		})
		if last == nil || try == tries {
			then(f)
			f.undo()
			return
		}
		f.undo()
		order = append([]*workload.Workload{last}, slices.DeleteFunc(order, func(o *workload.Workload) bool { return o == last })...)
	}
}

// aim builds a placement in which some pods of w are on the lost nodes and the remaining nodes have no room
// for another one. Then it follows the loss.
func (c *crowd) aim(w *workload.Workload, f *followed, d *rand.Rand) {
	x := c.filling(d)
	defer x.undo()
	if x.daemons(every) != nil || !x.some(w, 1+d.IntN(max(1, w.Count.N)), f.lost) || !x.close(x.of[w][0], 0, f.lost) {
		return
	}
	x.rest(c.largest, func(*workload.Workload) (bool, int, func(int32) bool) {
		return false, d.IntN(1 + len(f.lost)), func(n int32) bool { return !f.lost[n] }
	})
	f.lose(c, x)
}

// aimRoll builds a placement from which a rollout may get stuck, and calls then with it: no node has room for a new
// pod, and a pod of another workload is Pending. A new pod of a DaemonSet has only one node, so other nodes stay as
// they are. In odd rounds, the other DaemonSets come last.
func (c *crowd) aimRoll(r certificate.Rollout, round int, then func(*filling)) {
	d := rand.New(rand.NewPCG(uint64(round), 4))
	x := c.filling(d)
	defer x.undo()
	anywhere := func(*workload.Workload) (bool, int, func(int32) bool) {
		return true, 0, func(int32) bool { return false }
	}
	early := func(o *workload.Workload) bool { return o == r.Old || round%2 == 0 }
	if x.daemons(early) != nil || !r.Old.Kind.PerNode() && x.rest([]*workload.Workload{r.Old}, anywhere) != nil {
		return
	}
	others := slices.DeleteFunc(slices.Concat(c.largest, c.daemons), func(o *workload.Workload) bool { return x.left[o] == 0 })
	if len(others) == 0 {
		return
	}
	waits := others[round/2%len(others)]
	x.left[waits]--
	if !r.Old.Kind.PerNode() {
		x.close(c.board.of[r.Fresh][0], 0, nil)
	}
	x.left[waits]++
	us := c.board.of[waits]
	x.close(us[d.IntN(len(us))], 1, nil)
	x.daemons(func(o *workload.Workload) bool { return !early(o) })
	x.rest(c.largest, anywhere)
	then(x)
}

// filling is a run in progress: it places a crowd's pods on the board one by one.
type filling struct {
	*board
	c    *crowd
	d    *rand.Rand
	run  []certificate.Move
	left map[*workload.Workload]int // pods that are not placed yet
}

func (c *crowd) filling(d *rand.Rand) *filling {
	f := &filling{board: c.board, c: c, d: d, left: map[*workload.Workload]int{}}
	for _, o := range c.largest {
		f.left[o] = o.Count.N
	}
	for _, o := range c.daemons {
		for _, u := range f.of[o] {
			f.left[o] += len(f.units[u].Nodes) // none or one
		}
	}
	return f
}

func (f *filling) put(w *workload.Workload, unit, n int) {
	f.Move(unit, n, 1)
	f.run = append(f.run, certificate.Move{Workload: w, Node: f.m.Topology.Nodes[n]})
	f.left[w]--
}

func (f *filling) undo() {
	for _, x := range f.run {
		f.add(x, -1)
	}
}

// daemons places the pods of the DaemonSets that the function which selects. It returns a DaemonSet that does not
// fit, or nil.
func (f *filling) daemons(which func(*workload.Workload) bool) (unfit *workload.Workload) {
	for _, w := range f.c.daemons {
		for _, u := range f.of[w] {
			for _, n := range f.units[u].Nodes {
				switch {
				case !which(w):
				case f.Takes(u, int(n)):
					f.put(w, u, int(n))
				default:
					unfit = w
				}
			}
		}
	}
	return unfit
}

// every selects all workloads.
func every(*workload.Workload) bool { return true }

// rest places as many of the remaining pods of the given workloads as fit. The function how says which nodes
// each workload prefers (see pick). rest returns the first workload that does not fit, or nil.
func (f *filling) rest(order []*workload.Workload, how func(*workload.Workload) (any bool, first int, avoid func(n int32) bool)) (unfit *workload.Workload) {
	for before := -1; before < len(f.run); {
		before, unfit = len(f.run), nil
		for _, w := range order {
			any, first, avoid := how(w)
			for _, u := range f.of[w] {
				for pods := min(f.left[w], f.units[u].Pods); pods > 0; pods-- {
					n := f.pick(u, first, f.d, any, avoid)
					if n < 0 {
						unfit = cmp.Or(unfit, w)
						break
					}
					f.put(w, u, n)
				}
			}
		}
		if unfit == nil {
			break
		}
	}
	return unfit
}

// some places the given number of w's pods on the marked nodes. It returns false if they do not fit there.
func (f *filling) some(w *workload.Workload, pods int, on []bool) bool {
	us := f.of[w]
	for range pods {
		n := f.pick(us[0], f.d.IntN(1+len(on)), f.d, true, func(n int32) bool { return !on[n] })
		if len(us) > 1 || n < 0 || !on[n] {
			return false
		}
		f.put(w, us[0], n)
	}
	return true
}

// close fills every node that is not lost until it rejects the unit's workload w, even without w's pods on the lost
// nodes. It
// holds back `keep` pods of w. The smallest pod that closes a node is used, if there is one. It returns
// false if a node stays open.
func (f *filling) close(u, keep int, lost []bool) bool {
	w := f.units[u].Group.Workload
	var own []int // the lost nodes with pods of w, if rules may count these pods
	for _, x := range f.run {
		if n, _ := f.m.IndexOf(x.Node.Name); x.Workload == w && lost != nil && lost[n] && len(f.units[u].Group.Terms) > 0 {
			own = append(own, n)
		}
	}
	open := func(n int) bool {
		for _, at := range own {
			f.Move(u, at, -1)
		}
		takes := f.Takes(u, n)
		for _, at := range own {
			f.Move(u, at, 1)
		}
		return takes
	}
	nodes := f.units[u].Nodes
	shuffled := slices.Clone(f.c.largest)
	f.d.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
	order := [][]*workload.Workload{f.c.largest, f.c.smallest, shuffled}[f.d.IntN(3)]
	for i, first := 0, f.d.IntN(1+len(nodes)); i < len(nodes); i++ {
		n := int(nodes[(first+i)%len(nodes)])
		if lost != nil && lost[n] {
			continue
		}
		takes := func(o *workload.Workload) bool {
			kept := 0
			if o == w {
				kept = keep
			}
			if f.left[o] <= kept || len(f.of[o]) != 1 {
				return false
			}
			v := f.of[o][0]
			_, may := slices.BinarySearch(f.units[v].Nodes, int32(n))
			return may && f.Takes(v, n)
		}
		closes := func(o *workload.Workload) bool {
			if !takes(o) {
				return false
			}
			f.Move(f.of[o][0], n, 1)
			defer f.Move(f.of[o][0], n, -1)
			return !open(n)
		}
		for open(n) {
			f.m.Run().Spend(1 + len(order)/model.PerStep)
			large := slices.IndexFunc(f.c.largest, takes)
			if large < 0 {
				return false
			}
			o := order[slices.IndexFunc(order, takes)]
			if closes(f.c.largest[large]) {
				o = f.c.smallest[slices.IndexFunc(f.c.smallest, closes)]
			}
			f.put(o, f.of[o][0], n)
		}
	}
	return true
}

// pick returns a node that takes a pod of a unit, or -1: the first from some node on, or any. Nodes for
// which avoid returns true come last.
func (b *board) pick(unit, first int, d *rand.Rand, any bool, avoid func(n int32) bool) int {
	nodes := b.units[unit].Nodes
	b.m.Run().Spend(1 + len(nodes)/2)
	found, seen := -1, 0
	for _, avoided := range []bool{false, true} {
		for i := 0; i < len(nodes) && (any || found < 0); i++ {
			n := nodes[(first+i)%len(nodes)]
			if avoid(n) != avoided || !b.Takes(unit, int(n)) {
				continue
			}
			if seen++; d.IntN(seen) == 0 {
				found = int(n)
			}
		}
		if found >= 0 {
			break
		}
	}
	return found
}

// add adds pods of a workload on a node, or removes them.
func (b *board) add(x certificate.Move, by int) {
	n, _ := b.m.IndexOf(x.Node.Name)
	for _, u := range b.of[x.Workload] {
		if at := b.units[u].Nodes; !x.Workload.Kind.PerNode() || len(at) > 0 && int(at[0]) == n {
			b.Move(u, n, by)
			return
		}
	}
}

// lose follows the loss twice after a run: once the large pods find nodes first, once any. It keeps the first
// runs that leave pods of a workload missing or do not, if all of them ran before.
func (f *followed) lose(c *crowd, from *filling) {
	var gone, stay []certificate.Move
	run, d, missing := from.run, from.d, maps.Clone(from.left)
	for _, x := range run {
		switch lost := f.loss.Nodes[x.Node.Name]; {
		case !lost:
			stay = append(stay, x)
		case !x.Workload.Kind.PerNode():
			x.Gone = true
			gone = append(gone, x)
			missing[x.Workload]++
		}
	}
	for _, g := range f.loss.Guards {
		if missing[g.Workload] > g.Allowed {
			return // they do not go at once
		}
	}
	b, closed := c.board, func(n int32) bool { return f.lost[n] }
	if f.then != nil {
		b, closed = f.then, func(int32) bool { return false }
		b.torn = true
		for _, x := range stay {
			b.add(x, 1)
		}
	} else {
		for _, x := range gone {
			b.add(x, -1)
		}
	}
	for _, any := range []bool{false, true} {
		queue := slices.DeleteFunc(slices.Clone(gone), func(x certificate.Move) bool { return !f.loss.Recreated(x.Workload) })
		for _, o := range c.largest {
			queue = append(queue, slices.Repeat([]certificate.Move{{Workload: o}}, from.left[o])...)
		}
		if any {
			d.Shuffle(len(queue), func(i, k int) { queue[i], queue[k] = queue[k], queue[i] })
		} else {
			slices.SortStableFunc(queue, func(a, b certificate.Move) int {
				return slices.Index(c.largest, a.Workload) - slices.Index(c.largest, b.Workload)
			})
		}
		var again []certificate.Move
		left := maps.Clone(missing)
		for before := -1; before < len(again); { // a pod may make room for another one
			before = len(again)
			queue = slices.DeleteFunc(queue, func(x certificate.Move) bool {
				u := b.of[x.Workload][0]
				n := b.pick(u, d.IntN(1+len(f.lost)), d, any, closed)
				if n < 0 || closed(int32(n)) {
					return false
				}
				x = certificate.Move{Workload: x.Workload, Node: b.m.Topology.Nodes[n]}
				b.add(x, 1)
				again = append(again, x)
				left[x.Workload]--
				return true
			})
		}
		for _, x := range again {
			b.add(x, -1)
		}
		whole := slices.Concat(run, gone, again)
		for _, w := range c.largest {
			switch {
			case from.left[w] > 0:
			case left[w] > 0 && f.bad[w] == nil:
				f.bad[w] = whole
			case left[w] == 0 && f.good[w] == nil && (len(queue) == 0 || !c.j.mayBePreempted(w)):
				f.good[w] = whole
			}
		}
	}
	if f.then != nil {
		for _, x := range stay {
			b.add(x, -1)
		}
		b.torn = false
		return
	}
	for _, x := range gone {
		b.add(x, 1)
	}
}

// rolled holds runs of a rollout: one that completes and one that gets stuck.
type rolled struct {
	m         *model.Model
	ask       certificate.Rollout
	good, bad []certificate.Move
	beside    bool // pods of others wait when the bad run begins
}

// followRollout settles a rollout that may complete or get stuck by two runs, which the checker
// confirms (T25).
func (u updates) followRollout(w *workload.Workload, r *Rollout) {
	x := u.runsOf(w, r)
	if model.Off("T25") || x == nil || x.good == nil || x.bad == nil && r.Stuck == nil {
		return
	}
	checker := certificate.CheckerOf(x.m)
	if done, _, err := checker.FollowRoll(x.m, x.ask, x.good); err != nil || !done {
		return
	}
	if r.Stuck != nil { // no pods of others wait at its start
		r.Verdict, r.Why = diag.Sometimes, model.Reason{}
		return
	}
	if done, reasons, err := checker.FollowRoll(x.m, x.ask, x.bad); err == nil && !done {
		r.Verdict, r.Why, r.Stuck, r.Reasons, r.old, r.fresh = diag.Sometimes, model.Reason{}, x.bad, reasons, x.ask.Old, x.ask.Fresh
		r.beside = x.beside
	}
}

// runsOf makes runs of a rollout until one completes and one gets stuck. Pods of other workloads may be Pending at the
// start, unless something besides rules and requests can hold them back (see limited). Old pods are removed from the
// node with the most (R-W33). It returns nil if runs would prove nothing or take too long.
func (u updates) runsOf(w *workload.Workload, r *Rollout) *rolled {
	all := u.everyone(w, r.Replicas)
	if u.crowdOf(w, r.Replicas) == nil || r.Way != workload.Rolling && r.Way != workload.InPlace || !u.free() || slices.ContainsFunc(all, func(o *workload.Workload) bool { return u.m.PinOf(o).Key != "" }) {
		return nil
	}
	s := u.scene(all).with(w, r.Replicas)
	x := &rolled{ask: certificate.Rollout{Old: s.of[w], Fresh: s.twin(w, r.Replicas), Surge: r.Surge, Unavailable: r.Unavailable, Waits: !slices.ContainsFunc(all, u.limited)}}
	if x.m = u.m.Variant(s.ws, u.m.Topology.Nodes, s.add...); x.m.Split() != x.m {
		return nil
	}
	c := &crowd{scene: s, m: x.m, board: newBoard(x.m)}
	c.sort(x.ask.Fresh)
	roll := func(f *filling) {
		waits := slices.Max(slices.Collect(maps.Values(f.left))) > 0
		if f.left[x.ask.Old] > 0 || waits && !x.ask.Waits {
			return
		}
		for _, first := range []bool{true, false} {
			if first && x.good != nil || !first && x.bad != nil {
				continue
			}
			moves, done := f.roll(x.ask, first)
			switch whole := slices.Concat(f.run, moves); {
			case done && x.good == nil:
				x.good = whole
			case !done && x.bad == nil:
				x.bad, x.beside = whole, waits
			}
			for _, y := range moves {
				if y.Gone {
					c.board.add(y, 1)
				} else {
					c.board.add(y, -1)
				}
			}
		}
	}
	for round := 0; round < maxRounds && (x.good == nil || x.bad == nil); round++ {
		c.place(round, make([]bool, len(x.m.Topology.Nodes)), roll)
	}
	for round := 0; round < maxAimed*4 && x.good != nil && x.bad == nil; round++ {
		c.aimRoll(x.ask, round, roll)
	}
	return x
}

// roll replaces all old pods after a run that places them. If first is set, new pods are scheduled before Pending pods
// of other workloads, otherwise after them. It returns the moves of the controller and the scheduler, and false if the
// rollout gets stuck.
func (f *filling) roll(ask certificate.Rollout, first bool) (moves []certificate.Move, done bool) {
	var old []*topology.Node
	b, d, left, on := f.board, f.d, maps.Clone(f.left), map[certificate.Move]int{}
	for _, x := range f.run {
		if on[x]++; x.Workload == ask.Old {
			old = append(old, x.Node)
		}
	}
	pods := func(n *topology.Node) int {
		return on[certificate.Move{Workload: ask.Old, Node: n}] + on[certificate.Move{Workload: ask.Fresh, Node: n}]
	}
	comes := func(w *workload.Workload, any bool) bool {
		for _, u := range b.of[w] {
			n := b.pick(u, d.IntN(1+len(b.m.Topology.Nodes)), d, any, func(int32) bool { return false })
			if n < 0 {
				continue
			}
			x := certificate.Move{Workload: w, Node: b.m.Topology.Nodes[n]}
			if w.Kind.PerNode() && (on[x] > 0 || w == ask.Fresh && pods(x.Node) > 0) {
				continue
			}
			b.add(x, 1)
			on[x]++
			moves = append(moves, x)
			return true
		}
		return false
	}
	others := func() (some bool) {
		for _, w := range slices.Concat(f.c.largest, f.c.daemons) {
			for left[w] > 0 && comes(w, false) {
				left[w]--
				some = true
			}
		}
		return some
	}
	for all, placed := len(old), 0; ; {
		if !first {
			others()
		}
		goes := len(old) > 0 && all-len(old)-placed < ask.Unavailable
		switch {
		case placed < all && len(old)+placed < all+ask.Surge && (!goes || d.IntN(2) == 0) && comes(ask.Fresh, d.IntN(2) == 0):
			placed++
		case goes:
			i := 0
			for k, o := range old {
				if pods(o) > pods(old[i]) {
					i = k
				}
			}
			x := certificate.Move{Workload: ask.Old, Node: old[i]}
			on[x]--
			b.add(x, -1)
			x.Gone = true
			moves = append(moves, x)
			old = slices.Delete(old, i, i+1)
		case !others():
			return moves, len(old) == 0 && placed == all
		}
	}
}
