package disruption_test

import (
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// runs enumerates all runs of a rollout by simulating the loop of its controller. It tries every
// choice of the scheduler, of the pods to delete and of the time for which these remain. The first
// rows are the old pods, the new pods and the terminating old pods.
type runs struct {
	*world
	way                          string
	replicas, surge, unavailable int
	seen                         map[phase]bool
	stuck, done, begun           bool
	// of is the load, and before the state before the rollout.
	of     load
	before grid
	// quota limits how many pods exist, or is nil.
	quota *limited
}

// phase is one state: the pods on each node, the replica count of each revision and, for a
// DaemonSet, the nodes on which a new pod was created. The volume of all pods is attached to the node
// holder. Under a quota, made counts the pods of each load that exist, apart from old ones.
type phase struct {
	on      grid
	spec    [2]int8
	created grid
	holder  int8
	made    [3]int8
}

const (
	old = iota
	fresh
	gone
)

// rolling enumerates the rollout of the first load, starting from each complete placement.
func (s sample) rolling(t *testing.T, from start, way string, surge, unavailable int, quota *limited) *runs {
	t.Helper()
	l := s.loads[0]
	rest := s.rest(from.without)
	rows := []row{
		{name: "web-old", text: l.pod("web-old", "old", "", ""), pods: rest[0].pods, alone: rest[0].alone, once: l.once},
		{name: "web-new", text: l.pod("web-new", "new", "", ""), pods: rest[0].pods, alone: rest[0].alone, once: l.once},
		{name: "web-gone", text: l.pod("web-gone", "old", `, deletionTimestamp: "2026-01-01T00:00:00Z"`, ""), once: l.once},
	}
	r := &runs{world: s.world(t, append(rows, rest[1:]...)), way: way, surge: surge, unavailable: unavailable, replicas: rest[0].pods, seen: map[phase]bool{}, of: l, quota: quota}
	nodes := len(r.m.Topology.Nodes)
	for i, g := range from.complete {
		on := grid(g[:nodes]) + r.empty()[:2*nodes] + g[nodes:]
		if r.stuck && r.done {
			break
		}
		if r.before = on; l.pin != "" || l.claim != "" {
			clear(r.seen)
		}
		holder := 0
		for r.on(on, old, holder) == 0 && holder < nodes-1 {
			holder++
		}
		if l.attached() && r.on(on, old, holder) < r.replicas {
			continue // some old pods do not run
		}
		r.begun = true
		p := phase{on: on, spec: [2]int8{int8(r.replicas), 0}, created: r.empty()[:nodes], holder: int8(holder)}
		if quota != nil {
			p.made = from.made[i]
			p.made[0] = 0
		}
		r.visit(p)
	}
	return r
}

// ready returns how many new pods run.
func (r *runs) ready(p phase) int {
	if r.of.attached() {
		return r.on(p.on, fresh, int(p.holder))
	}
	return r.pods(p.on, fresh)
}

// reattach tries each node to which the volume can be attached after the last pod has left its node.
func (r *runs) reattach(p phase, move func(phase)) {
	on := func(n int) int { return r.on(p.on, old, n) + r.on(p.on, fresh, n) + r.on(p.on, gone, n) }
	if !r.of.attached() || on(int(p.holder)) > 0 {
		return
	}
	for n := range r.m.Topology.Nodes {
		if on(n) > 0 {
			next := p
			next.holder = int8(n)
			move(next)
		}
	}
}

// verdict returns the outcome over all runs, or tooMuch if there are too many states.
func (r *runs) verdict() diag.Outcome {
	switch {
	case r.stuck && r.done:
		return diag.Sometimes
	case r.left <= 0:
		return tooMuch
	case !r.begun:
		return outside
	case r.stuck:
		return diag.Never
	}
	return diag.Always
}

const tooMuch diag.Outcome = "?"

// visit explores every possible next step from one state.
func (r *runs) visit(p phase) {
	if r.seen[p] || r.stuck && r.done || r.left <= 0 {
		return
	}
	r.seen[p] = true
	if r.pods(p.on, old) == 0 && r.ready(p) == r.replicas {
		r.done = true
		return
	}
	moved := false
	move := func(next phase) {
		moved = true
		r.visit(next)
	}
	ways[r.way](r, p, move)
	r.others(p, move)
	r.reattach(p, move)
	for n := range r.m.Topology.Nodes {
		if r.on(p.on, gone, n) > 0 {
			next := p
			next.on = r.with(p.on, gone, n, -1)
			move(next)
		}
	}
	r.stuck = r.stuck || !moved && r.left > 0
}

// ways maps the way of an update to the steps of the controllers.
var ways = map[string]func(r *runs, p phase, move func(phase)){
	"rolling": func(r *runs, p phase, move func(phase)) { r.scaled(p, r.roll(p), move) },
	"recreate": func(r *runs, p phase, move func(phase)) {
		next := p
		if next.spec[old] = 0; r.pods(p.on, old)+r.pods(p.on, gone) == 0 { // R-W8
			next.spec[fresh] = int8(r.replicas)
		}
		r.scaled(p, next, move)
	},
	"both": func(r *runs, p phase, move func(phase)) { // R-W31
		next := p
		if next.spec[fresh] = int8(r.replicas); r.ready(p) == r.replicas {
			next.spec[old] = 0
		}
		r.scaled(p, next, move)
	},
	"in place":     (*runs).inPlace,
	"per node":     (*runs).perNode,
	"node by node": (*runs).nodeByNode,
}

// roll runs one round of the Deployment controller. It scales up the new ReplicaSet if possible,
// or else scales down the old one (R-W5). A new pod is available once it is on a node.
func (r *runs) roll(p phase) phase {
	replicas, was, now := int8(r.replicas), p.spec[old], p.spec[fresh]
	if now < replicas {
		if room := replicas + int8(r.surge) - was - now; room > 0 {
			p.spec[fresh] += min(room, replicas-now)
			return p
		}
	}
	least, available := replicas-int8(r.unavailable), int8(r.ready(p))
	if was+now-least-(now-available) > 0 {
		p.spec[old] -= max(0, min(was, was+available-least))
	}
	return p
}

// scaled applies the steps of the ReplicaSets and the scheduler, and the round that scales the
// ReplicaSets.
func (r *runs) scaled(p, round phase, move func(phase)) {
	if r.pods(p.on, old) > int(p.spec[old]) {
		r.delete(p, move) // immediately: pods beyond r+s are terminating (R-W6)
		return
	}
	if round != p {
		move(round)
	}
	if r.pods(p.on, fresh) < r.create(p, int(p.spec[fresh]), move) {
		for _, n := range r.takers(p.on, fresh) {
			if r.of.finds(r.world, r.before, n, old) {
				next := p
				next.on = r.with(p.on, fresh, n, 1)
				move(next)
			}
		}
	}
}

// create returns how many new pods of wanted exist. It tries to create another.
func (r *runs) create(p phase, wanted int, move func(phase)) int {
	if r.quota == nil {
		return wanted
	}
	if made := int(p.made[0]); made < wanted && r.admits(p, 0) {
		next := p
		next.made[0]++
		move(next)
	}
	return int(p.made[0])
}

// admits reports whether the quota has room for another pod of a load.
func (r *runs) admits(p phase, of int) bool {
	return r.quota.admits(of, func(of int) int {
		if of == 0 {
			return r.pods(p.on, old) + r.pods(p.on, gone) + int(p.made[0])
		}
		return int(p.made[of])
	})
}

// others tries to create and to place pods of other loads that the quota left out before.
func (r *runs) others(p phase, move func(phase)) {
	for row := gone + 1; row < len(r.rows) && r.quota == nil; row++ { // they wait, unless all run from the start
		if r.pods(p.on, row) == r.rows[row].pods {
			continue
		}
		for _, n := range r.takers(p.on, row) {
			next := p
			next.on = r.with(p.on, row, n, 1)
			move(next)
		}
	}
	for row := gone + 1; row < len(r.rows) && r.quota != nil; row++ {
		of := r.rows[row].of
		placed, made := r.pods(p.on, row), int(p.made[of])
		waits := r.quota.loads[of].kind == "StatefulSet" && placed < made
		if made < r.rows[row].pods && !waits && r.admits(p, of) {
			next := p
			next.made[of]++
			move(next)
		}
		if placed < made {
			for _, n := range r.takers(p.on, row) {
				next := p
				next.on = r.with(p.on, row, n, 1)
				move(next)
			}
		}
	}
}

// delete tries each old pod as the one that becomes terminating.
func (r *runs) delete(p phase, move func(phase)) {
	for n := range r.m.Topology.Nodes {
		if r.on(p.on, old, n) > 0 {
			next := p
			next.on = r.with(r.with(p.on, old, n, -1), gone, n, 1)
			move(next)
		}
	}
}

// inPlace applies the steps of a StatefulSet. The successor of a pod has the same name, so it is
// created only once the pod is gone (R-W12).
func (r *runs) inPlace(p phase, move func(phase)) {
	was, now, going := r.pods(p.on, old), r.pods(p.on, fresh), r.pods(p.on, gone)
	if now < r.create(p, r.replicas-was-going, move) {
		for _, n := range r.takers(p.on, fresh) {
			if r.of.mayUse(r.world, r.before, p.on, n, old, old, fresh, gone) {
				next := p
				next.on = r.with(p.on, fresh, n, 1)
				move(next)
			}
		}
	}
	if was > 0 && was+now > r.replicas-r.unavailable {
		r.delete(p, move)
	}
}

// perNode applies the steps of a DaemonSet that creates new pods next to the old ones, on up to
// `surge` nodes at once. It deletes an old pod when the new pod is on the same node (R-W17).
func (r *runs) perNode(p phase, move func(phase)) {
	busy := 0
	for n := range r.m.Topology.Nodes {
		if p.created[n] > 0 && (r.on(p.on, fresh, n) == 0 || r.on(p.on, old, n) > 0) {
			busy++
		}
	}
	takes := map[int]bool{}
	for _, n := range r.takers(p.on, fresh) {
		takes[n] = true
	}
	for n := range r.m.Topology.Nodes {
		next := p
		switch {
		case !r.rows[old].alone[n]:
			continue
		case p.created[n] == 0 && busy < r.surge:
			b := []byte(p.created)
			b[n] = 1
			next.created = grid(b)
		case p.created[n] > 0 && takes[n]:
			next.on = r.with(p.on, fresh, n, 1)
		case r.on(p.on, fresh, n) > 0 && r.on(p.on, old, n) > 0:
			next.on = r.with(r.with(p.on, old, n, -1), gone, n, 1)
		default:
			continue
		}
		move(next)
	}
}

// nodeByNode applies the steps of a DaemonSet that deletes old pods on up to `unavailable` nodes at
// once. It creates a new pod on a node when the old one is gone (R-W17).
func (r *runs) nodeByNode(p phase, move func(phase)) {
	takes := map[int]bool{}
	for _, n := range r.takers(p.on, fresh) {
		takes[n] = true
	}
	runs := r.pods(p.on, old) + r.pods(p.on, fresh)
	for n := range r.m.Topology.Nodes {
		next := p
		switch {
		case !r.rows[old].alone[n]:
			continue
		case r.on(p.on, old, n) > 0 && runs > r.replicas-r.unavailable:
			next.on = r.with(r.with(p.on, old, n, -1), gone, n, 1)
		case r.on(p.on, old, n)+r.on(p.on, fresh, n)+r.on(p.on, gone, n) == 0 && takes[n]:
			next.on = r.with(p.on, fresh, n, 1)
		default:
			continue
		}
		move(next)
	}
}
