package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Remedy is a change that makes a rollout complete in every run, or a machine migrate;
// each offered one has been tried.
type Remedy string

// The remedies, from the safest on: leave the pods of the other revision, or of the
// machine itself, out of the rules; let a pod be unavailable; count the pods of the other
// revision where they are left out; or add a node that is a domain of its own.
const (
	MatchLabelKeys    Remedy = "match-label-keys"
	MismatchLabelKeys Remedy = "mismatch-label-keys"
	MaxUnavailable    Remedy = "max-unavailable"
	CountRevisions    Remedy = "count-revisions"
	OneMoreNode       Remedy = "one-more-node"
)

// fixes answers questions about what would resolve a finding.
type fixes struct{ *shared }

// Remedies returns the remedies for a rollout that may get stuck or never completes.
func (f fixes) Remedies(w *workload.Workload, r *Rollout) []Remedy {
	group, crowd := f.contenders(w, r.Replicas), f.contendersOf(w, r.Replicas) != nil
	var all []Remedy
	if own := revisionsApart(w); own != nil && f.completes(own, swapped(group, w, own), crowd, f.m.Topology.Nodes, r.Rollout, r.Replicas) {
		all = append(all, MatchLabelKeys)
	}
	if pace := r.Rollout; pace.Unavailable == 0 && (pace.Way == workload.Rolling || pace.Way == workload.PerNode) {
		pace.Unavailable = 1
		if pace.Way == workload.PerNode {
			pace.Way = workload.InPlace
		}
		if f.completes(w, group, crowd, f.m.Topology.Nodes, pace, r.Replicas) {
			all = append(all, MaxUnavailable)
		}
	}
	// Hard spread constraints also count pods of other revisions.
	together := respread(w, func(t *corev1.TopologySpreadConstraint) bool {
		kept := slices.DeleteFunc(slices.Clone(t.MatchLabelKeys), func(k string) bool { return slices.Contains(w.Kind.Shared, k) })
		changed := t.WhenUnsatisfiable == corev1.DoNotSchedule && len(kept) < len(t.MatchLabelKeys)
		t.MatchLabelKeys = kept
		return changed
	})
	if together != nil && f.completes(together, swapped(group, w, together), crowd, f.m.Topology.Nodes, r.Rollout, r.Replicas) {
		all = append(all, CountRevisions)
	}
	if more := f.oneMore(w); more != nil && f.completes(w, group, crowd, append(slices.Clone(f.m.Topology.Nodes), more), r.Rollout, r.Replicas) {
		all = append(all, OneMoreNode)
	}
	return all
}

// swapped returns a group with another workload in place of one.
func swapped(group []*workload.Workload, w, by *workload.Workload) []*workload.Workload {
	group = slices.Clone(group)
	group[slices.Index(group, w)] = by
	return group
}

// completes reports whether a rollout completes in every run, for an edited workload or
// on other nodes, among all of the group: that the rules alone allow it does not suffice. In
// a crowd it completes only if it needs no extra room.
func (f fixes) completes(w *workload.Workload, group []*workload.Workload, crowd bool, nodes []*topology.Node, how workload.Rollout, replicas int) (does bool) {
	return f.aside(func() { does = f.rollsOut(w, group, crowd, nodes, how, replicas) }) && does
}

// aside runs a question that only advice depends on, so that at least half of the remaining
// budget is left for the question that the advice belongs to.
func (j *shared) aside(f func()) bool {
	run := j.m.Run()
	return run.Within(run.Left()/2, f)
}

func (f fixes) rollsOut(w *workload.Workload, group []*workload.Workload, crowd bool, nodes []*topology.Node, how workload.Rollout, replicas int) bool {
	other := updates{f.other(f.m.Variant(append(slices.Clone(group), f.running...), nodes))}
	r := Rollout{Rollout: how, Replicas: replicas}
	if how.Way == workload.NoRollout || how.Unknown.Given() || !other.Judged(w) {
		return false
	}
	all := other.contenders(w, replicas)
	switch {
	case crowd:
		return other.counted(w, all, &r) == diag.Always
	case other.roomy(w, replicas, how.Surge):
		return true
	}
	other.roll(w, all, &r)
	return r.Verdict == diag.Always
}

// MigrationRemedies returns the remedies for machines that cannot always migrate.
func (f fixes) MigrationRemedies(w *workload.Workload) []Remedy {
	group := f.group(w, true)
	crowd := f.contendersOf(w, model.Certain(w)) != nil // for a crowd nothing is tried
	moves := func(w *workload.Workload, group []*workload.Workload, nodes []*topology.Node) bool {
		m := Migration{Machines: model.Certain(w)}
		return !crowd && f.aside(func() {
			other := f.other(f.m.Variant(append(slices.Clone(group), f.running...), nodes))
			migrations{other}.migrate(w, other.group(w, true), &m)
		}) && m.Answer == diag.Always
	}
	var all []Remedy
	passesOver := edited(w, "kubevirt.io/created-by", func(t *corev1.PodAffinityTerm) *[]string {
		if t.TopologyKey == corev1.LabelHostname {
			return nil // the second pod must not be on that node anyway
		}
		return &t.MismatchLabelKeys
	})
	if passesOver != nil && moves(passesOver, swapped(group, w, passesOver), f.m.Topology.Nodes) {
		all = append(all, MismatchLabelKeys)
	}
	if more := f.oneMore(w); more != nil && moves(w, group, append(slices.Clone(f.m.Topology.Nodes), more)) {
		all = append(all, OneMoreNode)
	}
	return all
}

// revisionsApart returns a workload whose required anti-affinity leaves out pods of
// other revisions; nil if that changes nothing.
func revisionsApart(w *workload.Workload) *workload.Workload {
	if len(w.Kind.Shared) == 0 {
		return nil
	}
	return edited(w, w.Kind.Shared[0], func(t *corev1.PodAffinityTerm) *[]string { return &t.MatchLabelKeys })
}

// edited returns a workload with a label key added to a list of its required
// anti-affinity terms; nil if that changes nothing.
func edited(w *workload.Workload, key string, list func(*corev1.PodAffinityTerm) *[]string) *workload.Workload {
	a := w.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return nil
	}
	c, changed := *w, false
	c.Spec.Affinity = a.DeepCopy()
	terms := c.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range terms {
		if keys := list(&terms[i]); keys != nil && terms[i].LabelSelector != nil && !slices.Contains(*keys, key) {
			*keys = append(*keys, key)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return &c
}

// revisionsCounted returns a workload whose hard spread constraints leave out pods of
// other revisions; nil if that changes nothing.
func revisionsCounted(w *workload.Workload) *workload.Workload {
	if len(w.Kind.Shared) == 0 {
		return nil
	}
	return respread(w, func(t *corev1.TopologySpreadConstraint) bool {
		if t.WhenUnsatisfiable != corev1.DoNotSchedule || t.LabelSelector == nil || slices.Contains(t.MatchLabelKeys, w.Kind.Shared[0]) {
			return false
		}
		t.MatchLabelKeys = append(slices.Clone(t.MatchLabelKeys), w.Kind.Shared[0])
		return true
	})
}

// respread returns a workload with edited spread constraints; nil if that changes none of them.
func respread(w *workload.Workload, edit func(*corev1.TopologySpreadConstraint) bool) *workload.Workload {
	c, changed := *w, false
	c.Spec.TopologySpreadConstraints = slices.Clone(w.Spec.TopologySpreadConstraints)
	for i := range c.Spec.TopologySpreadConstraints {
		changed = edit(&c.Spec.TopologySpreadConstraints[i]) || changed
	}
	if !changed {
		return nil
	}
	return &c
}

// Honored reports whether a workload survives the loss of every domain of a key, with
// unreachable nodes, if its hard spread constraints do not count nodes whose taints its
// pods do not tolerate (R-T3).
func (f fixes) Honored(w *workload.Workload, key string) bool {
	honor := corev1.NodeInclusionPolicyHonor
	c := respread(w, func(t *corev1.TopologySpreadConstraint) bool {
		if t.WhenUnsatisfiable != corev1.DoNotSchedule || t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == honor {
			return false
		}
		t.NodeTaintsPolicy = &honor
		return true
	})
	if c == nil || f.contendersOf(w, model.Certain(w)) != nil {
		return false
	}
	other := f.other(f.m.Variant(append(swapped(f.group(w, true), w, c), f.running...), f.m.Topology.Nodes))
	return !slices.ContainsFunc(evictions{other}.Survives(c, key), func(s Survival) bool {
		return s.Meaning == certificate.Unreachable && s.Verdict != diag.Always
	})
}

// oneMore returns a node like one that the pods may use, in domains of its own for
// the keys that keep them apart; nil if the pods may use no node.
func (j *shared) oneMore(w *workload.Workload) *topology.Node {
	i := slices.IndexFunc(j.m.Eligible(w).Nodes, model.Passes.All)
	if i < 0 {
		return nil
	}
	more := *j.m.Topology.Nodes[i]
	more.Name = "one more"
	more.Labels = maps.Clone(more.Labels)
	keys := []string{corev1.LabelHostname}
	for t := range j.m.Group(w).Hard(model.AntiAffinity) {
		keys = append(keys, t.Key)
	}
	for _, k := range keys {
		if _, has := more.Labels[k]; has {
			more.Labels[k] = ownDomain(k)
		}
	}
	return &more
}

// ownDomain returns a value of a key that only an additional node has.
func ownDomain(key string) string { return "one more " + key }
