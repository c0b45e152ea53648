package derive

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// user is a workload whose pods all use one claim.
type user struct {
	w     *workload.Workload
	claim *workload.Claim
	// pods is the number of pods that are certain to exist.
	pods int
	// nodes holds the nodes that have room for a pod, with the number of such nodes. That is more than
	// 1 only for a sample of the nodes that a pool can add. It is empty if it is not known where the
	// pods run.
	nodes map[*topology.Node]int
}

// once reports whether one pod can use the claim at a time. Workloads that share it are a conflict.
func (u *user) once() bool { return slices.Contains(u.w.OncePod, u.claim.Name) }

// exclusive says whether pods cannot use the claim as soon as one does on another node, or at all.
func (u *user) exclusive() diag.Outcome {
	switch {
	case !u.once():
		return u.claim.Exclusive()
	case u.w.OpenOnce != "":
		return diag.Unknown
	}
	return diag.Always
}

// attachments adds facts about claims whose volume is attached to one node at a time (R-N44). It
// leaves out pods that run to completion, because other pods wait for these only for a time, and
// KubeVirt machines.
func (b joint) attachments() {
	var keys [][2]string
	users := map[[2]string][]user{}
	nodes := map[string]map[*topology.Node]int{} // of workloads with equal rules about nodes and equal requests
	for _, w := range b.m.Workloads {
		if w.Copy || w.Superseded || w.Running || w.Kind.VM || w.Finite() {
			continue
		}
		for _, c := range w.Claims {
			u := user{w: w, claim: c}
			key := [2]string{workload.Space(w.Object.Namespace), c.Name}
			if source.Placeholder(c.Name) || u.once() { // may be another claim in each workload
				key = [2]string{w.String(), c.Name}
			}
			all, known := users[key]
			switch {
			case c.Template || c.Ephemeral || known && all[len(all)-1].w == w:
				continue
			case !known:
				keys = append(keys, key)
			}
			if u.exclusive() == diag.Always && b.attachable(w) && !w.Refused() && !w.Paused() && w.Spec.NodeName == "" {
				g := b.m.Group(w)
				u.nodes = lazy.Cached(nodes, g.Signature+" "+g.Request, func() map[*topology.Node]int {
					e, requests, nodes := b.m.Eligible(w), b.m.Group(w).Requests, map[*topology.Node]int{}
					b.m.Run().Spend((len(e.Nodes) + len(e.Growth)) * (1 + len(requests)))
					add := func(p model.Passes, n *topology.Node, number int) {
						if most, _ := model.Fits(n, requests); p.All() && most > 0 {
							nodes[n] = number
						}
					}
					for i, n := range b.m.Topology.Nodes {
						add(e.Nodes[i], n, 1)
					}
					for i, g := range b.m.Topology.Growth {
						add(e.Growth[i], g.Node, g.Extra)
					}
					return nodes
				})
				if u.pods = model.Certain(w); w.Kind.PerNode() {
					u.pods = b.declaredOf(u.nodes)
				}
			}
			users[key] = append(all, u)
			b.settle(w, func(d *progress) { d.attaches = d.attaches || u.exclusive() == diag.Unknown })
		}
	}
	rows := map[string]int{} // by what the rows of several claims have in common
	for _, key := range keys {
		b.attachment(users[key], rows)
	}
}

// attachable reports whether it is known where the pods of a workload can be, apart from what one
// claim means for them.
func (b joint) attachable(w *workload.Workload) bool {
	switch b.m.Group(w).Unknown.Cause {
	case model.ByVolume, model.ByClass:
		return !b.m.Topology.Empty() && !w.Running && (w.Count.Known || w.Kind.PerNode())
	}
	return b.m.Judged(w)
}

// declaredOf returns how many of the nodes are declared.
func (b joint) declaredOf(nodes map[*topology.Node]int) (all int) {
	b.m.Run().Spend(len(b.m.Topology.Nodes))
	for _, n := range b.m.Topology.Nodes {
		all += nodes[n]
	}
	return all
}

// attachment adds a fact about a claim. If the same workloads have a fact with the same outcome, it
// adds the claim to that fact.
func (b joint) attachment(users []user, rows map[string]int) {
	placed := slices.DeleteFunc(slices.Clone(users), func(u user) bool { return len(u.nodes) == 0 || u.pods == 0 })
	outcome, cause := diag.Always, ""
	switch exclusive := users[0].exclusive(); {
	case exclusive == diag.Unknown || exclusive == diag.Always && slices.ContainsFunc(users, func(u user) bool { return !b.attachable(u.w) }):
		outcome = diag.Unknown
	case exclusive == diag.Always && len(placed) == 0:
		outcome = diag.None
	}
	if len(placed) > 0 {
		if is, why := b.attached(placed); is != diag.Always {
			outcome, cause, users = is, why, placed
		}
	}
	if !b.wanted("attachments", "outcome", outcome) {
		return
	}
	w, claim := users[0].w, users[0].claim
	fact := facts.Attachment{Outcome: outcome, Cause: cause, Claims: []string{claim.Name}, Class: claim.Class, Pods: users[0].pods, Others: []int{}}
	for _, u := range users[1:] {
		fact.Others = append(fact.Others, b.row(u.w))
	}
	key := fmt.Sprint(b.row(w), fact.Others, outcome, cause)
	if i, known := rows[key]; known {
		row := &b.Attachments[i]
		row.Claims = append(row.Claims, claim.Name)
		s := &b.subjects[row.ID-1]
		*s = s.related(claim.Span, message.SameClaim)
		return
	}
	s := about(w, claim.Span)
	if claim.Object != nil {
		s = s.related(claim.Object.NameSpan(), message.DeclaresClaim)
	}
	for _, u := range users[1:] {
		s = s.related(u.claim.Span, "%s", message.AlsoUses(u.w))
	}
	if outcome == diag.Sometimes && len(users) == 1 {
		s.Fold = cause + " " + claim.Class
	}
	if cause == "rollout" || cause == "deadlock" {
		r := w.Rollout(fact.Pods)
		s = s.related(r.Span, "%s", message.Arithmetic(&r.Arithmetic))
	}
	if outcome == diag.Never || outcome == diag.Sometimes {
		for _, text := range message.AttachmentFixes(&fact, w) {
			s = s.fix("%s", text)
		}
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	rows[key] = len(b.Attachments)
	b.Attachments = append(b.Attachments, fact)
}

// attached says whether all pods that use a claim can run, and if not, why.
func (b joint) attached(users []user) (outcome diag.Outcome, cause string) {
	pods, affine, on := 0, false, users[0].nodes
	switch {
	case users[0].once() && users[0].pods > 1:
		return diag.Never, "once"
	case users[0].once():
		return diag.Always, ""
	}
	for i := range users {
		u := &users[i]
		switch {
		case u.w.Kind.PerNode() && u.pods > 1:
			return diag.Never, "per-node"
		case b.apart(u) || slices.ContainsFunc(users[:i], func(o user) bool { return b.apartFrom(u, &o) }):
			return diag.Never, "apart"
		}
		pods, affine = pods+u.pods, affine || len(b.m.Group(u.w).HardAffinity()) > 0
		if i == 1 {
			on = maps.Clone(on)
		}
		if b.m.Run().Spend(len(u.nodes)); i > 0 {
			maps.Copy(on, u.nodes)
		}
	}
	r := users[0].w.Rollout(pods)
	rolls, judged := b.rolled[users[0].w]
	switch one := pods == 1 && judged; {
	case !severalIn(on, pinOf(users[0].claim)), one && rolls == diag.Always:
		return diag.Always, ""
	case one && rolls == diag.Never:
		return diag.Sometimes, "deadlock"
	case affine && !(one && rolls == diag.Sometimes): // it may keep the pods on one node
		return diag.Unknown, ""
	case pods > 1:
		return diag.Sometimes, "pods"
	case (r.Way == workload.Rolling || r.Way == workload.BothWhole) && r.Surge > 0 && r.Unavailable < pods && !r.Unknown.Given():
		return diag.Sometimes, "rollout"
	}
	return diag.Always, ""
}

// pinOf returns the label that has the same value on all nodes that can use a claim's volume, or
// "". If it is not known where that is, the volume may be a disk of a zone.
func pinOf(c *workload.Claim) string {
	switch {
	case c.Bound: // the eligible nodes are those that can use the volume
		return ""
	case c.Pinned == storage.PinZone, c.Pinned == storage.PinUnknown:
		return corev1.LabelTopologyZone
	case c.Pinned == storage.PinRegion:
		return corev1.LabelTopologyRegion
	}
	return ""
}

// severalIn reports whether several of the nodes have the same value for a label, or lack it.
func severalIn(nodes map[*topology.Node]int, label string) bool {
	in := map[string]int{}
	for n, several := range nodes {
		in[n.Labels[label]] += several
		if in[n.Labels[label]] > 1 {
			return true
		}
	}
	return false
}

// apart reports whether a workload's pods cannot all run on one node, although some run on others.
func (b joint) apart(u *user) bool {
	if u.pods < 2 || !severalIn(u.nodes, "") || b.m.MaybeApart(u.w) || len(search.Unlisted(b.m, u.w)) > 0 {
		return false
	}
	if _, all := bound.Share(b.m, u.w); all == model.Yes { // fast
		return false
	}
	most, _ := bound.MostTogether(b.m, u.w)
	return most < u.pods && (u.w.Scale == nil || most < u.w.Count.N)
}

// apartFrom reports whether no node can run pods of both workloads.
func (b joint) apartFrom(u, o *user) bool {
	var keys []string
	for _, of := range [][2]*workload.Workload{{u.w, o.w}, {o.w, u.w}} {
		for t := range b.m.Group(of[0]).Hard(model.AntiAffinity) {
			if b.m.Peer(t, of[0], of[1]) == model.Yes {
				keys = append(keys, t.Key)
			}
		}
	}
	ports := b.m.Group(o.w).HostPorts
	if slices.ContainsFunc(b.m.Group(u.w).HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(ports, p.Conflicts) }) {
		return true
	}
	b.m.Run().Spend(len(u.nodes) * (1 + len(keys)))
	for n := range u.nodes {
		if o.nodes[n] > 0 && !slices.ContainsFunc(keys, func(key string) bool { return model.Carries(n.Labels, []string{key}) }) {
			return false
		}
	}
	return true
}
