package disruption

import (
	"cmp"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// maxClasses is the maximum number of undeclared storage classes whose volumes are assumed both to
// be usable everywhere and only in one zone.
const maxClasses = 3

// askForVolumes answers a question about a loss for all that volumes of undeclared storage classes
// may be. The answer is unknown if it depends on that.
func (q *loss) askForVolumes(b *search.DomainLoss, meaning certificate.Meaning) answer {
	own := q.j.m.PinOf(q.w)
	var classes []string
	if own.Open != "" {
		classes = append(classes, own.Open)
	}
	a := q.askUnder(classes, b, meaning)
	if a.searched && len(q.contending) > 1 {
		vague := false
		for _, w := range q.contending {
			if p := q.j.m.PinOf(w); w != q.w && p.Key != "" {
				if vague = vague || p.Vague; p.Open != "" && !slices.Contains(classes, p.Open) {
					classes = append(classes, p.Open)
				}
			}
		}
		switch {
		case vague || len(classes) > maxClasses:
			return answer{verdict: diag.Unknown, why: model.Reason{Cause: model.ByVolume, Name: "where the volumes of other workloads can be used"}}
		case len(classes) > 0 && classes[0] != own.Open || len(classes) > 1:
			a = q.askUnder(classes, b, meaning)
		}
	}
	// A pod waits for its volume only if it would find room elsewhere. A local volume is never there, nor is
	// one that can be used on a single node, whatever nodes are added.
	local := func(c *workload.Claim) bool { return c.Static != nil && !c.Static.Anywhere() }
	if a.waits != "" && a.waits != hostname && !slices.ContainsFunc(q.w.Claims, local) {
		q.loose, q.pin = true, ""
		if free := q.ask(b, meaning).verdict; free == diag.Never || free == diag.Sometimes {
			a.waits = ""
		}
		q.loose = false
	}
	if stuck := a.verdict == diag.Never || a.verdict == diag.Sometimes; stuck && a.waits == "" && own.Key == "" && len(q.w.Reaches) > 0 && !q.room.Left(b) && q.fitsWithoutVolumes(b, meaning) {
		a.waits = q.j.m.BoundTo(q.w)
	}
	if own.Vague && !a.missed && a.verdict != diag.Never {
		return answer{verdict: diag.Unknown, why: model.Reason{Cause: model.ByVolume, Name: "the label " + own.Key + ", which some nodes lack"}}
	}
	return a
}

// fitsWithoutVolumes reports whether the lost pods would always find nodes if they needed no volumes
// (T16).
func (q *loss) fitsWithoutVolumes(b *search.DomainLoss, meaning certificate.Meaning) bool {
	l, free := certificate.Loss{Meaning: meaning}, *q.w
	free.Reaches, free.OrdinalReaches = nil, nil
	defer q.j.m.Guest(&free)()
	return l.Returns(q.w) && q.kinds.Room(&free, model.Certain(q.w)).FitsAnyway(b, l, q.everybody.Roster, model.Certain(q.w))
}

// askUnder answers a question under every assumption about the given classes.
func (q *loss) askUnder(classes []string, b *search.DomainLoss, meaning certificate.Meaning) (a answer) {
	for set := range 1 << len(classes) {
		q.free = nil
		if len(classes) > 0 {
			q.free = make(map[string]bool, len(classes))
		}
		for i, class := range classes {
			q.free[class] = set>>i&1 == 1
		}
		q.pin = q.pinnedTo(q.w)
		switch found := q.ask(b, meaning); {
		case set == 0:
			a = found
		case found.verdict != a.verdict || found.missed != a.missed:
			return answer{verdict: diag.Unknown, why: model.Pin{Open: classes[0]}.Reason()}
		default:
			a.pending, a.hit, a.searched = min(a.pending, found.pending), min(a.hit, found.hit), a.searched || found.searched
			if a.waits != found.waits {
				a.waits = ""
			}
		}
	}
	return a
}

// pinnedTo returns the label whose value the pods of a workload keep, under the present assumption.
func (q *loss) pinnedTo(w *workload.Workload) string {
	p := q.j.m.PinOf(w)
	if q.free[p.Open] || q.loose && w == q.w {
		return ""
	}
	return p.Key
}

// stranded reports whether no node is left that can use the volumes of a lost pod.
func (q *loss) stranded(b *search.DomainLoss) bool {
	if q.pin == "" {
		return false
	}
	_, left, known := q.room.Returns(b, q.pin)
	return known && !left
}

// fits reports whether a lost pod of the workload always finds a node, wherever the other pods are
// (T16).
func (q *loss) fits(b *search.DomainLoss, l certificate.Loss, about *search.Roster) bool {
	if q.pin == "" {
		return q.room.FitsAnyway(b, l, about, model.Certain(q.w))
	}
	if l.Meaning == certificate.Unreachable { // old pods stay, with their rules
		return false
	}
	return q.room.FitsPinned(b, about, model.Certain(q.w), q.pin)
}

// withVolumes returns what a verdict on a rollout says if new pods have to use the volumes of old
// ones. Volumes never make a rollout complete, so Never stays.
func (u updates) withVolumes(w *workload.Workload, r Rollout) Rollout {
	if name := u.m.SharedVolumes(w); name != "" && (r.Way == workload.BothWhole || r.Surge > 0) { // each pod is counted with volumes of its own
		return open(&r, model.Reason{Cause: model.ByVolume, Name: name})
	}
	if w.OrdinalReaches != nil && r.Verdict != diag.Unknown {
		s := u.scene(u.contenders(w, r.Replicas))
		if _, d := s.decide(s.of[w]); verdict(d, s.of[w]) == diag.Never { // its pods are never placed before the rollout
			return Rollout{Rollout: r.Rollout, Replicas: r.Replicas}
		}
	}
	if r.Verdict != diag.Always && r.Verdict != diag.Sometimes {
		return r
	}
	if r.Verdict == diag.Always && w.OpenOnce != "" && (r.Way == workload.BothWhole || r.Surge > 0 && r.Unavailable == 0) {
		return open(&r, model.Reason{Cause: model.ByVolume, Name: w.OpenOnce})
	}
	p, attached, one := u.m.PinOf(w), attachedOnce(u.m, w), r.Replicas == 1 && !w.Kind.PerNode()
	waits := r.Way == workload.BothWhole || r.Way == workload.Rolling && r.Surge > 0 && r.Unavailable == 0 // for the new pod
	if one && !waits && !w.SharesClaim {
		attached = diag.Never
	}
	follows := one && waits && w.SharedPin
	if attached != diag.Never && w.SharesClaim { // other workloads may hold the volume
		return open(&r, attachReason(w))
	}
	if attached == diag.Never && !follows {
		if p.Key == "" || r.Verdict == diag.Always && u.keepsRoom(w, &r, p) {
			return r
		}
		return open(&r, p.Reason())
	}
	why, all := p.Reason(), []held{}
	if p.Open == "" && attached == diag.Unknown {
		why = attachReason(w)
	}
	for _, h := range []held{{false, p.Key}, {true, p.Key}, {false, ""}, {true, ""}} {
		if (h.pin != "" || p.Key == "" || p.Open != "") && (attached == diag.Unknown || h.attached == (attached == diag.Always)) {
			all = append(all, h)
		}
	}
	var out Rollout
	for i, h := range all {
		is := r
		switch {
		case h.free(), !h.attached && r.Verdict == diag.Always && u.keepsRoom(w, &r, p):
		case w.Kind.PerNode(), h.pin != "" && (p.Vague || !follows):
			return open(&r, why)
		default:
			is = updates{u.shared, h}.judge(w, r.Replicas)
		}
		switch {
		case i == 0:
			out = is
		case is.Verdict != out.Verdict:
			return open(&r, why)
		}
	}
	if out.Verdict == diag.Unknown && !out.Why.Given() {
		out.Why = attachReason(w)
	}
	return out
}

// open returns a rollout whose end is not known for a reason.
func open(r *Rollout, why model.Reason) Rollout {
	return Rollout{Rollout: r.Rollout, Replicas: r.Replicas, Verdict: diag.Unknown, Why: why}
}

// attachedOnce says whether pods of a workload on another node than the rest hang (R-N44).
func attachedOnce(m *model.Model, w *workload.Workload) diag.Outcome {
	if e := m.Eligible(w); e.Count+e.Growable < 2 {
		return diag.Never
	}
	return cmp.Or(w.Attached, diag.Never)
}

// attachReason returns the reason why an answer depends on whether a volume is attached to one node
// at a time.
func attachReason(w *workload.Workload) model.Reason {
	if c := w.AttachedBy; c.Open != "" && w.Attached == diag.Unknown {
		return model.Reason{Cause: model.ByClass, Name: c.Open}
	}
	may := "can"
	if w.Attached == diag.Unknown {
		may = "may"
	}
	return model.Reason{Cause: model.ByVolume, Name: "claim " + w.AttachedBy.Name + ", whose volume " + may + " be attached to one node at a time"}
}

// keepsRoom reports whether each new pod finds room where the volume is that it uses.
func (u updates) keepsRoom(w *workload.Workload, r *Rollout, p model.Pin) bool {
	return u.returns(w, r, p) || r.Way == workload.Rolling && !p.Vague && u.roomWithVolumes(w, r, p.Key)
}

// returns reports whether each new pod can take the room of the old one whose volume it uses (T31).
// Each old pod must be removed before its replacement has to find a node, no rule may distinguish the
// revisions, and no other pods may wait for the room. A rule about the workload's own pods must not
// depend on how they are distributed within the domain of a volume.
func (u updates) returns(w *workload.Workload, r *Rollout, p model.Pin) bool {
	first := r.Way == workload.InPlace || r.Way == workload.Recreate || r.Way == workload.Rolling && r.Unavailable > 0
	if !first || w.Kind.PerNode() || model.Off("T31") {
		return false
	}
	group, contenders := u.contenders(w, r.Replicas), u.contendersOf(w, r.Replicas)
	ruled := u.group(w, false)
	for _, o := range ruled {
		if asksFor(u.m.Group(o), w.Kind.Shared) {
			return false
		}
	}
	several := !w.SharedPin && (r.Unavailable > 1 || r.Way == workload.Recreate && r.Replicas > 1)
	for _, t := range u.m.Group(w).Terms {
		within := !p.Vague && (t.Key == p.Key || p.Key == hostname)
		others := slices.ContainsFunc(ruled, func(o *workload.Workload) bool { return o != w && u.m.Peer(t, w, o) != model.No })
		own := u.m.Peer(t, w, w) != model.No
		switch {
		case !t.Hard:
		case t.Use == model.AntiAffinity && several && own && !within && !u.m.NodeByNode(t.Key, nil): // a pod may close the place of one from another domain
			return false
		case t.Use == model.Spread && (others || !within), t.Use == model.Affinity && own && !within:
			return false
		}
	}
	sound := u.withoutUnfit(w, group)
	switch {
	case u.waiting(group, sound):
		return false
	case contenders != nil:
		return !slices.ContainsFunc(contenders, u.mayWait)
	}
	v := u.fitting(sound).verdict
	return v == diag.Always || v == diag.Sometimes && len(sound) == 1
}

// roomWithVolumes reports whether one more pod always finds a node wherever the volumes are (T16).
func (u updates) roomWithVolumes(w *workload.Workload, r *Rollout, key string) bool {
	group := u.contenders(w, r.Replicas)
	told := asksFor(u.m.Group(w), w.Kind.Shared)
	if told || len(group) == 0 || u.m.Topology.Elastic() {
		return false
	}
	pods := r.Replicas + max(1, r.Surge)
	about := u.contendersOrGroup(group, u.contendersOf(w, r.Replicas))
	return u.assembled(group).Kinds(w, pods, hostname).Room(w, pods).FitsInEach(about, pods, key, false)
}

// spreads reports whether a group has a hard spread constraint.
func spreads(g *model.Group) bool {
	return slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && t.Use == model.Spread })
}
