package derive

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Limits of a picture: the runs about changes, those among them that begin with the placement of all
// pods, and the pods of a cluster whose runs about changes are replayed.
const (
	maxChangeRuns  = 24
	maxWholeLosses = 6
	maxChangePods  = 3000
	// stepsPerEvent is the cost of replaying an event.
	stepsPerEvent = 20
)

// picture builds a diag.Picture.
type picture struct {
	*diag.Picture
	m   *model.Model
	d   *certificate.Decision
	j   *disruption.Judge
	doc *diag.Placement
	// nodes, resources and workloads map names to indices. The key of a workload has a suffix for the
	// next revision.
	nodes, resources, workloads map[string]int
	// rows maps the references of workloads to their rows in doc.
	rows    map[string]*diag.PlacementWorkload
	undrawn bool
}

// Picture describes the runs of a decision event by event: the two that place pods, and those that
// show how a rollout, a drain or a loss leaves pods of a workload Pending. If no answer depends on
// which pods there are, it adds drains and losses of the placement after which all pods run again.
// All of them are replays with the filters of the checker. The document is the one of Decision.
func Picture(m *model.Model, d *certificate.Decision, j *disruption.Judge, doc *diag.Placement) *diag.Picture {
	p := &picture{&diag.Picture{}, m, d, j, doc, map[string]int{}, map[string]int{}, map[string]int{}, map[string]*diag.PlacementWorkload{}, false}
	for i := range doc.Workloads {
		w := &doc.Workloads[i]
		p.rows[strings.Join([]string{w.APIVersion, w.Kind, workload.Space(w.Namespace), w.Name}, "/")] = w
	}
	p.list()
	if !m.Run().Within(m.Altogether(), p.runs) {
		p.LeftOut = append(p.LeftOut, message.PictureSteps)
	}
	for i := range p.Runs {
		if slices.ContainsFunc(p.Runs[i].Events, func(e diag.PictureEvent) bool { return e.Node < 0 && e.What != diag.EventLose }) {
			p.Runs, p.LeftOut = p.Runs[:i], append(p.LeftOut, message.PictureUndrawn) // later runs may begin with this one
			break
		}
	}
	if len(p.Runs) == 0 && len(p.LeftOut) == 0 {
		p.LeftOut = append(p.LeftOut, message.PictureNone)
	}
	if more := len(doc.Unmodelled); more > 0 && len(p.Runs) > 0 {
		p.LeftOut = append(p.LeftOut, message.NotModeled(more))
	}
	return p.Picture
}

// runs adds all runs, those of the decision first.
func (p *picture) runs() {
	d := p.d
	if len(d.Witness) > 0 {
		title := message.RunPlacesAll
		if len(d.Witness) < d.Total {
			title = message.RunPlacesMost
		}
		p.Runs = append(p.Runs, diag.PictureRun{Question: diag.AskPlaced, Workload: -1, After: -1, Title: title, Events: p.placed(d.Witness)})
		p.Runs[0].Pending = p.left(d.Witness)
		if unknown(p.doc.Verdict) {
			p.Runs[0].Note = message.RunUndecided
		}
	}
	if p.doc.Stuck != nil && d.Stuck != nil {
		p.Runs = append(p.Runs, p.stuck())
	}
	if !p.j.Prepare() {
		p.LeftOut = append(p.LeftOut, message.PictureSteps)
		return
	}
	if d.Total > maxChangePods {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf(message.PictureTooLarge, maxChangePods))
		return
	}
	p.changes()
	if p.wholeLosses(); p.undrawn {
		p.LeftOut = append(p.LeftOut, message.PictureUndrawn)
	}
}

// list fills in the nodes, the resources that they list, and the running pods.
func (p *picture) list() {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		p.resource(string(name))
	}
	names := map[string]bool{}
	for _, n := range p.m.Topology.Nodes {
		for name := range n.Allocatable {
			names[string(name)] = true
		}
	}
	for _, name := range sorting.Keys(names) {
		p.resource(name)
	}
	open := p.m.Topology.Uncertain(corev1.LabelTopologyZone)
	for i, n := range p.m.Topology.Nodes {
		zone, declared := n.Labels[corev1.LabelTopologyZone]
		out := diag.PictureNode{
			Name: n.Name, Zone: zone, ZoneOpen: open && !declared && !n.Live, Cordoned: n.Unschedulable,
			Allocatable: make([]int64, len(p.Resources)),
		}
		if n.Pool != nil {
			out.Pool = n.Pool.Name
		}
		for k, name := range p.Resources {
			out.Allocatable[k] = -1
			if q, listed := n.Allocatable[corev1.ResourceName(name)]; listed {
				out.Allocatable[k] = model.Amount(corev1.ResourceName(name), q)
			}
		}
		for k := range n.Taints {
			t := &n.Taints[k]
			out.Taints = append(out.Taints, strings.TrimSuffix(t.Key+"="+t.Value, "=")+":"+string(t.Effect))
		}
		p.nodes[n.Name] = i
		p.Nodes = append(p.Nodes, out)
	}
	for _, w := range p.m.RunningOnes() {
		if n, known := p.nodes[w.Spec.NodeName]; known {
			p.Running = append(p.Running, diag.PicturePod{Workload: p.workload(w, false), Node: n})
		}
	}
}

func (p *picture) resource(name string) {
	if _, known := p.resources[name]; !known {
		p.resources[name] = len(p.Resources)
		p.Resources = append(p.Resources, name)
	}
}

// workload returns the index of a workload, or of its next revision.
func (p *picture) workload(w *workload.Workload, fresh bool) int {
	key := Reference(w)
	if fresh {
		key += " new"
	}
	i, known := p.workloads[key]
	if !known {
		i, p.workloads[key] = len(p.Workloads), len(p.Workloads)
		out := diag.PictureWorkload{Reference: Reference(w), New: fresh, Requests: make([]int64, len(p.Resources))}
		requests := model.Written(model.Requests(w))
		for k := range requests {
			if at, listed := p.resources[string(requests[k].Name)]; listed {
				out.Requests[at] = requests[k].Amount
			}
		}
		out.Requests[p.resources[string(corev1.ResourcePods)]] = 1
		p.Workloads = append(p.Workloads, out)
	}
	return i
}

// event returns an event about a pod. The node is -1 if it is not declared.
func (p *picture) event(what string, w *workload.Workload, n *topology.Node, fresh bool) diag.PictureEvent {
	p.m.Run().Spend(stepsPerEvent)
	at, known := p.nodes[n.Name]
	if !known {
		at = -1
	}
	return diag.PictureEvent{What: what, PicturePod: diag.PicturePod{Workload: p.workload(w, fresh), Node: at}}
}

func (p *picture) placed(run []certificate.Placed) []diag.PictureEvent {
	all := make([]diag.PictureEvent, len(run))
	for i, s := range run {
		all[i] = p.event(diag.EventPlace, s.Workload, s.Node, false)
	}
	return all
}

// left counts the pods of the decision that a run does not place.
func (p *picture) left(run []certificate.Placed) (all []diag.PicturePending) {
	count := map[string]int{}
	for _, s := range run {
		count[Reference(s.Workload)]++
	}
	var end *check.Placement
	for i := range p.d.Workloads {
		w := &p.d.Workloads[i]
		more := w.Pods - count[Reference(w.Workload)]
		if more <= 0 || w.Workload.Finite() {
			continue
		}
		if end == nil {
			end = check.NewPlacement(p.m, run)
		}
		all = append(all, diag.PicturePending{Workload: p.workload(w.Workload, false), Count: more, Refused: p.refused(end, w.Workload)})
	}
	return all
}

// stuck is the run of the decision that leaves pods Pending.
func (p *picture) stuck() diag.PictureRun {
	s := p.d.Stuck
	run := diag.PictureRun{Question: diag.AskStuck, Workload: -1, After: -1, Title: message.RunGetsStuck, Events: p.placed(s.Placements)}
	end := check.NewPlacement(p.m, s.Placements)
	for i, x := range s.Pending {
		said := p.doc.Stuck.Pending[i]
		run.Pending = append(run.Pending, diag.PicturePending{
			Workload: p.workload(x.Workload, false), Count: x.Count, Reason: said.Reason, Orphaned: said.Orphaned, Refused: p.refused(end, x.Workload),
		})
	}
	return run
}

// refused lists the nodes that reject the next pod of w.
func (p *picture) refused(end *check.Placement, w *workload.Workload) (all []diag.PictureRefused) {
	for _, r := range end.Refusing(w) {
		out := diag.PictureRefused{Filter: string(r.By), Why: message.Outlook(&r.Example)}
		for _, n := range r.Nodes {
			if at, known := p.nodes[n.Name]; known {
				out.Nodes = append(out.Nodes, at)
			}
		}
		all = append(all, out)
	}
	return all
}

// changes adds the runs in which a rollout gets stuck, or a drain or a loss leaves pods Pending.
func (p *picture) changes() {
	open := func(verdict string) bool { return verdict == string(diag.Sometimes) || verdict == string(diag.Never) }
	shown, more := 0, 0
	for i := range p.d.Workloads {
		w := p.d.Workloads[i].Workload
		row := p.rows[Reference(w)]
		if row == nil || row.Verdict == string(diag.Never) {
			continue
		}
		c := &row.Change
		var asks []func() (diag.PictureRun, bool)
		if open(c.Rollout.Verdict) {
			asks = append(asks, func() (diag.PictureRun, bool) { return p.rollout(w, c.Rollout.Reason) })
		}
		if open(c.Drain.Verdict) && c.Drain.ByPlacement {
			asks = append(asks, func() (diag.PictureRun, bool) {
				return p.loss(w, p.j.Drains(w), diag.AskDrain, c.Drain.Reason)
			})
		}
		for _, key := range harmful(c.Survives) {
			asks = append(asks, func() (diag.PictureRun, bool) { return p.loss(w, p.j.Survives(w, key), diag.AskLoss, "") })
		}
		for _, ask := range asks {
			if shown == maxChangeRuns {
				more++
				continue
			}
			var run diag.PictureRun
			drawn := false
			if done := p.j.Ask(w, func() { run, drawn = ask() }); !done || !drawn {
				p.undrawn = true
				continue
			}
			shown++
			p.Runs = append(p.Runs, run)
		}
	}
	if more > 0 {
		p.LeftOut = append(p.LeftOut, message.MoreRuns(more, maxChangeRuns))
	}
}

// harmful returns the topology keys some of whose losses leave pods Pending, in order.
func harmful(all []diag.PlacementSurvival) (keys []string) {
	for i := range all {
		if s := &all[i]; (s.Verdict == string(diag.Sometimes) || s.Verdict == string(diag.Never)) && !slices.Contains(keys, s.Key) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// rollout returns the run in which a rollout gets stuck. If the search kept none, the state before the
// first old pod can be removed is one, if no node accepts a new pod then.
func (p *picture) rollout(w *workload.Workload, note string) (diag.PictureRun, bool) {
	all := p.j.Rollouts(w)
	if some := filterStarted(all); len(some) > 0 {
		all = some
	}
	if len(all) == 0 {
		return diag.PictureRun{}, false
	}
	r, _ := worst(all)
	run := diag.PictureRun{Question: diag.AskRollout, Workload: p.workload(w, false), After: -1, Title: message.RolloutStuck(w), Note: note}
	old, fresh := 0, 0
	add := func(what string, of *workload.Workload, n *topology.Node, isFresh bool) {
		run.Events = append(run.Events, p.event(what, of, n, isFresh))
		by := 1
		if what == diag.EventRemove {
			by = -1
		}
		switch {
		case isFresh:
			fresh += by
		case of.Object == w.Object:
			old += by
		}
	}
	pending := diag.PicturePending{Workload: p.workload(w, true)}
	if len(r.Stuck) > 0 {
		for _, m := range r.Stuck {
			what := diag.EventPlace
			if m.Gone {
				what = diag.EventRemove
			}
			add(what, m.Workload, m.Node, r.Fresh(m))
		}
		pending.Reason = message.Rejected(refusedNodes(r.Reasons))
		if s := p.j.Updated(w, r); s != nil { // on all nodes, where the certificate has some of each kind
			refused, nodes := p.refused(s.Placement, s.Next), 0
			for _, f := range refused {
				nodes += len(f.Nodes)
			}
			if nodes == len(p.Nodes) {
				pending.Refused = refused
			}
		}
	} else {
		s := p.j.Updated(w, r)
		if s == nil || r.Verdict != diag.Never {
			return run, false
		}
		had, missing := s.Count(s.Old)
		placed, _ := s.Count(s.Next)
		if had == 0 || missing > 0 || placed > 0 {
			return run, false
		}
		for _, pod := range s.Placement.Pods() {
			add(diag.EventPlace, pod.Workload, pod.Node, false)
		}
		pending.Refused = p.refused(s.Placement, s.Next)
	}
	if slices.ContainsFunc(run.Events, func(e diag.PictureEvent) bool { return e.Node < 0 }) {
		return run, false // a node that a pool may add
	}
	if pending.Count = min(r.Replicas+r.Surge-old-fresh, r.Replicas-fresh); pending.Count > 0 && !r.Hangs() {
		run.Pending = append(run.Pending, pending)
	}
	return run, true
}

// loss returns a run in which the worst loss or drain leaves pods of w Pending.
func (p *picture) loss(w *workload.Workload, all []disruption.Survival, question, note string) (run diag.PictureRun, drawn bool) {
	worst, _ := disruption.Worst(all)
	if worst == nil || worst.Verdict == diag.Unknown {
		return run, false
	}
	if l := (certificate.Loss{Meaning: worst.Meaning}); !l.Returns(w) {
		return run, false // the pods are lost wherever they are
	}
	s, l := p.j.Lost(w, all, worst)
	if s == nil || s.Before == nil {
		return run, false
	}
	_, before := s.Before.Count(s.Next)
	_, missing := s.Count(s.Next)
	if before > 0 || missing == 0 { // the loss is not to blame, or this one does no harm
		return run, false
	}
	run = diag.PictureRun{Question: question, Workload: p.workload(w, false), After: -1, Note: note}
	run.Events = p.placed(withoutRunning(s.Before.Pods()))
	p.lose(&run, s.Before, s.Placement, *l)
	run.Title = message.LossLeaves(w, l.Meaning, worst.Key, p.domain(worst.Key, run.Lost), missing)
	for _, c := range s.Placement.Missing() {
		_, missing := s.Count(c)
		run.Pending = append(run.Pending, diag.PicturePending{Workload: p.workload(c, false), Count: missing, Refused: p.refused(s.Placement, c)})
	}
	return run, true
}

func withoutRunning(pods []certificate.Placed) []certificate.Placed {
	return slices.DeleteFunc(slices.Clone(pods), func(x certificate.Placed) bool { return x.Workload.Running })
}

// lose adds the loss of nodes, the removal of their pods, and the pods that find another node.
func (p *picture) lose(run *diag.PictureRun, before, after *check.Placement, l certificate.Loss) {
	run.Meaning = string(l.Meaning)
	for i := range p.Nodes {
		if l.Nodes[p.Nodes[i].Name] {
			run.Lost = append(run.Lost, i)
		}
	}
	run.Events = append(run.Events, diag.PictureEvent{What: diag.EventLose, PicturePod: diag.PicturePod{Workload: -1, Node: -1}})
	stays := 0 // pods that are on the list of both states
	for _, pod := range before.Pods() {
		gone, own := l.Nodes[pod.Node.Name], pod.Workload.Kind.PerNode() && l.Meaning != certificate.Gone
		if gone && !own {
			run.Events = append(run.Events, p.event(diag.EventRemove, pod.Workload, pod.Node, false))
		}
		if !gone || own || l.Meaning == certificate.Unreachable {
			stays++
		}
	}
	run.Events = append(run.Events, p.placed(after.Pods()[stays:])...)
}

// domain returns the value of a topology key on lost nodes, or the name of the node.
func (p *picture) domain(key string, lost []int) string {
	switch {
	case len(lost) == 0:
		return ""
	case key == corev1.LabelHostname:
		return p.Nodes[lost[0]].Name
	}
	return p.m.Topology.Nodes[lost[0]].Labels[key]
}

// wholeLosses adds losses of a zone and drains of a node from the placement of all pods, after which
// all pods run again.
func (p *picture) wholeLosses() {
	if len(p.Runs) == 0 || len(p.d.Witness) < p.d.Total || len(p.Running) > 0 || p.m.Started() != p.m {
		return
	}
	busy := map[string]bool{} // nodes with pods that a change evicts
	for _, s := range p.d.Witness {
		busy[s.Node.Name] = busy[s.Node.Name] || !s.Workload.Kind.PerNode()
	}
	cut := false
	var before *check.Placement
	domains := func(of func(*topology.Node) string) (all [][]string) {
		at := map[string]int{}
		for _, n := range p.m.Topology.Nodes {
			value := of(n)
			if value == "" {
				continue
			}
			i, known := at[value]
			if !known {
				i, at[value] = len(all), len(all)
				all = append(all, nil)
			}
			all[i] = append(all[i], n.Name)
		}
		return slices.DeleteFunc(all, func(set []string) bool { return !slices.ContainsFunc(set, func(n string) bool { return busy[n] }) })
	}
	try := func(question string, meaning certificate.Meaning, key string, sets [][]string, safe func(*diag.PlacementWorkload) bool) {
		cut = cut || len(sets) > maxWholeLosses
		for _, set := range sets[:min(maxWholeLosses, len(sets))] {
			l := certificate.Loss{Nodes: map[string]bool{}, Meaning: meaning}
			for _, n := range set {
				l.Nodes[n] = true
			}
			if !p.recovers(l, safe) {
				continue
			}
			if before == nil {
				before = check.NewPlacement(p.m, p.d.Witness)
			}
			var then []*workload.Workload
			for g := range p.m.Placeable() {
				if !g.Kind.PerNode() && !g.Finite() {
					then = append(then, g.Workload)
				}
			}
			p.m.Run().Spend(stepsPerEvent * (len(p.d.Witness) + len(then)))
			after := before.Lose(l, then...)
			if slices.ContainsFunc(then, func(w *workload.Workload) bool { _, missing := after.Count(w); return missing > 0 }) {
				continue // other pods may preempt these, so the run is not the whole story
			}
			run := diag.PictureRun{Question: question, Workload: -1, After: 0}
			p.lose(&run, before, after, l)
			run.Title = message.LossPlaces(meaning, key, p.domain(key, run.Lost))
			p.Runs = append(p.Runs, run)
		}
	}
	try(diag.AskLoss, certificate.Gone, corev1.LabelTopologyZone, domains(func(n *topology.Node) string { return n.Labels[corev1.LabelTopologyZone] }), survivesZones)
	try(diag.AskDrain, certificate.Drained, corev1.LabelHostname, domains(func(n *topology.Node) string { return n.Name }), func(w *diag.PlacementWorkload) bool {
		return may(w.Change.Drain.Verdict)
	})
	if cut {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf(message.PictureFirst, maxWholeLosses))
	}
}

// may reports whether a question has the answer that it holds in some or all orders.
func may(verdict string) bool {
	return verdict == string(diag.Always) || verdict == string(diag.Sometimes)
}

// survivesZones reports whether there are answers about the loss of zones, and none forbids that all
// pods run again.
func survivesZones(w *diag.PlacementWorkload) bool {
	answered := false
	for _, s := range w.Change.Survives {
		if s.Key == corev1.LabelTopologyZone && s.Meaning == string(certificate.Gone) {
			if answered = true; !may(s.Verdict) {
				return false
			}
		}
	}
	return answered
}

// recovers reports whether all pods of the witness that a loss evicts may run again: their controllers
// create them again, no volume keeps them where they were, and the answers about the change allow it.
func (p *picture) recovers(l certificate.Loss, safe func(*diag.PlacementWorkload) bool) bool {
	for _, s := range p.d.Witness {
		w := s.Workload
		if !l.Nodes[s.Node.Name] || w.Kind.PerNode() {
			continue
		}
		row := p.rows[Reference(w)]
		if row == nil || !l.Returns(w) || w.Finite() || len(w.Claims) > 0 || !safe(row) {
			return false
		}
	}
	return true
}
