package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/versions"
	"github.com/schedlint/schedlint/lint/workload"
)

// fixes tries changes that may resolve a finding.
type fixes struct{ *shared }

// Remedies returns the changes after which the rollout r completes in every run. Each of them was
// tried, in the order of their kinds. MoreNodes is one more node that is a domain of its own.
func (f fixes) Remedies(w *workload.Workload, r *Rollout) []search.Kind {
	if r.choice != nil {
		f, w = fixes{r.choice.shared}, r.choice.of[w]
	}
	group, contenders := f.contenders(w, r.Replicas), f.contendersOf(w, r.Replicas)
	tooMany := contenders != nil
	if tooMany && f.assembled(contenders).Overfull() {
		return nil // pods that wait may take any room
	}
	var all []search.Kind
	if !r.free() { // the old pod gives its volume away
		pace := *r
		pace.Unavailable = 1
		p := f.m.PinOf(w)
		first := r.Way == workload.Rolling && (r.pin == "" || (updates{shared: f.shared}).returns(w, &pace, p))
		if first && f.completes(w, group, tooMany, f.m.Topology.Nodes, pace.Rollout, r.Replicas) {
			all = append(all, search.OneUnavailable)
		}
		return all
	}
	if own := revisionsApart(w); own != nil && f.completes(own, swapped(group, w, own), tooMany, f.m.Topology.Nodes, r.Rollout, r.Replicas) {
		all = append(all, search.MatchLabelKeys)
	}
	if more := f.oneMore(w); more != nil && f.completes(w, group, tooMany, append(slices.Clone(f.m.Topology.Nodes), more), r.Rollout, r.Replicas) {
		all = append(all, search.MoreNodes)
	}
	// Make hard spread constraints count other revisions' pods too.
	together := respread(w, func(t *corev1.TopologySpreadConstraint) bool {
		kept := slices.DeleteFunc(slices.Clone(t.MatchLabelKeys), func(k string) bool { return slices.Contains(w.Kind.Shared, k) })
		changed := t.WhenUnsatisfiable == corev1.DoNotSchedule && len(kept) < len(t.MatchLabelKeys)
		t.MatchLabelKeys = kept
		return changed
	})
	if together != nil && f.completes(together, swapped(group, w, together), tooMany, f.m.Topology.Nodes, r.Rollout, r.Replicas) {
		all = append(all, search.CountRevisions)
	}
	if pace := r.Rollout; pace.Unavailable == 0 && (pace.Way == workload.Rolling || pace.Way == workload.PerNode) {
		pace.Unavailable = 1
		if pace.Way == workload.PerNode {
			pace.Way = workload.InPlace
		}
		if f.completes(w, group, tooMany, f.m.Topology.Nodes, pace, r.Replicas) {
			all = append(all, search.OneUnavailable)
		}
	}
	return all
}

// swapped returns a copy of a group in which another workload replaces w.
func swapped(group []*workload.Workload, w, by *workload.Workload) []*workload.Workload {
	group = slices.Clone(group)
	group[slices.Index(group, w)] = by
	return group
}

// completes reports whether a rollout completes in every run after a change of the workload or the
// nodes. It considers every workload in the group, because the rules alone are not enough. With too
// many contenders it returns true only if the rollout needs no extra room.
func (f fixes) completes(w *workload.Workload, group []*workload.Workload, tooMany bool, nodes []*topology.Node, how workload.Rollout, replicas int) (does bool) {
	return f.aside(func() { does = f.rollsOut(w, group, tooMany, nodes, how, replicas) }) && does
}

// aside runs f to answer a question that only advice depends on. It reserves at least half of the
// remaining budget for the question that prompted the advice.
func (j *shared) aside(f func()) bool {
	run := j.m.Run()
	return run.Within(run.Left()/2, f)
}

func (f fixes) rollsOut(w *workload.Workload, group []*workload.Workload, tooMany bool, nodes []*topology.Node, how workload.Rollout, replicas int) bool {
	other := updates{shared: f.other(f.m.Variant(append(slices.Clone(group), f.running...), nodes))}
	r := Rollout{Rollout: how, Replicas: replicas}
	if how.Way == workload.NoRollout || how.Unknown.Given() || !other.Judged(w) {
		return false
	}
	all := other.contenders(w, replicas)
	switch {
	case tooMany:
		return other.counted(w, all, &r) == diag.Always
	case other.roomy(w, replicas, how.Surge):
		return true
	}
	other.roll(w, all, &r)
	return r.Verdict == diag.Always
}

// MigrationRemedies returns the changes after which every migration of the machines completes.
func (f fixes) MigrationRemedies(w *workload.Workload) []search.Kind {
	group := f.group(w, true)
	tooMany := f.contendersOf(w, model.Certain(w)) != nil // if set, nothing is tried
	moves := func(w *workload.Workload, group []*workload.Workload, nodes []*topology.Node) bool {
		m := Migration{Machines: model.Certain(w)}
		return !tooMany && f.aside(func() {
			other := f.other(f.m.Variant(append(slices.Clone(group), f.running...), nodes))
			migrations{other}.migrate(w, other.group(w, true), &m)
		}) && m.Answer == diag.Always
	}
	var all []search.Kind
	passesOver := edited(w, "kubevirt.io/created-by", func(t *corev1.PodAffinityTerm) *[]string {
		if t.TopologyKey == corev1.LabelHostname {
			return nil // the second pod must avoid that node anyway
		}
		return &t.MismatchLabelKeys
	})
	if passesOver != nil && moves(passesOver, swapped(group, w, passesOver), f.m.Topology.Nodes) {
		all = append(all, search.MismatchLabelKeys)
	}
	if more := f.oneMore(w); more != nil && moves(w, group, append(slices.Clone(f.m.Topology.Nodes), more)) {
		all = append(all, search.MoreNodes)
	}
	return all
}

// revisionsApart returns a copy of a workload whose required anti-affinity ignores other
// revisions' pods, or nil if the edit changes nothing.
func revisionsApart(w *workload.Workload) *workload.Workload {
	if len(w.Kind.Shared) == 0 {
		return nil
	}
	return edited(w, w.Kind.Shared[0], func(t *corev1.PodAffinityTerm) *[]string { return &t.MatchLabelKeys })
}

// edited returns a copy of a workload in which each required anti-affinity term has an extra
// label key in one of its key lists. It returns nil if the edit changes nothing.
func edited(w *workload.Workload, key string, list func(*corev1.PodAffinityTerm) *[]string) *workload.Workload {
	a := w.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil || versions.AffinityKeys().Keeps(w.Kubernetes) == diag.Never {
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

// revisionsCounted returns a copy of a workload whose hard spread constraints ignore other
// revisions' pods, or nil if the edit changes nothing.
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

// respread returns a copy of a workload with edited spread constraints, or nil if the edit changes
// nothing.
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

// Honored reports whether a workload would survive if any one domain of a key became unreachable.
// It assumes that the workload's hard spread constraints do not count nodes with taints that its
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

// oneMore returns a copy of a node that the pods can use. The copy is in its own domain for every
// key that keeps the pods apart. oneMore returns nil if the pods cannot use any node.
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
		if _, has := more.Labels[k]; has && k != topology.Cluster {
			more.Labels[k] = ownDomain(k)
		}
	}
	return &more
}

// ownDomain returns a label value that only additional nodes have.
func ownDomain(key string) string { return "one more " + key }

// Edit is a proposed change to a workload. It is applied to a copy.
type Edit struct {
	// Name identifies the edit. Two edits with the same name have the same effect on equal
	// workloads.
	Name string
	// Pods is the pod count that the edit sets, or 0 if it sets none.
	Pods int
	// Label is the key and the value of a label that additional nodes get, or empty.
	Label [2]string
	// Brief is set for an improvement without which no pods stay Pending. A trial of it takes a
	// fraction of the steps, as most of what it would do with more is not to decide.
	Brief bool
	// Make edits a copy of a workload and reports whether anything changed. If Make is nil, the
	// edit changes nothing.
	Make func(*workload.Workload) bool
}

// Replicas returns an edit that sets the pod count.
func Replicas(n int) Edit {
	return Edit{Name: fmt.Sprint("replicas ", n), Pods: n, Make: func(w *workload.Workload) bool {
		w.Count.N, w.Count.Known, w.Scale = n, true, nil
		return n > 0
	}}
}

// InDomain returns an edit that changes no workload. Additional nodes are in the given domain of a
// topology key or, if value is "", in a new one.
func InDomain(key, value string) Edit {
	return Edit{Name: "in " + key + "=" + value, Label: [2]string{key, cmp.Or(value, "the new "+key)}}
}

// SpreadOnNodes returns an edit that adds a hard spread constraint over nodes. If revisions is
// set, the constraint spreads each revision separately and does not count nodes with taints that
// the pods do not tolerate.
func SpreadOnNodes(revisions bool) Edit {
	return Edit{Name: fmt.Sprint("spread ", revisions), Brief: true, Make: func(w *workload.Workload) bool {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own(w),
		}
		if revisions {
			honor := corev1.NodeInclusionPolicyHonor
			c.NodeTaintsPolicy = &honor
			c.MatchLabelKeys = w.Kind.Shared[:min(1, len(w.Kind.Shared))]
		}
		w.Spec.TopologySpreadConstraints = append(slices.Clone(w.Spec.TopologySpreadConstraints), c)
		return len(w.Labels) > 0
	}}
}

// OwnClaims returns an edit that gives each pod claims of its own instead of one that one pod can
// use at a time.
func OwnClaims() Edit {
	return Edit{Name: "ownClaims", Make: func(w *workload.Workload) bool {
		had := len(w.OncePod) > 0
		w.OncePod, w.OpenOnce = nil, ""
		return had
	}}
}

// ApartOnNodes returns an edit that requires the workload's pods to be on different nodes.
func ApartOnNodes() Edit { return Edit{Name: "apartOnNodes", Brief: true, Make: apartOnNodes} }

func apartOnNodes(w *workload.Workload) bool {
	a := &corev1.Affinity{}
	if w.Spec.Affinity != nil {
		a = w.Spec.Affinity.DeepCopy()
	}
	if a.PodAntiAffinity == nil {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	list := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*list = append(*list, corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: own(w)})
	w.Spec.Affinity = a
	return len(w.Labels) > 0
}

// own returns a selector for the workload's own pods.
func own(w *workload.Workload) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: maps.Clone(w.Labels)}
}

// Both returns an edit that applies edits a and b.
func Both(a, b Edit) Edit {
	return Edit{Name: a.Name + " and " + b.Name, Pods: max(a.Pods, b.Pods), Make: func(w *workload.Workload) bool { return a.Make(w) && b.Make(w) }}
}

// SoftAntiAffinity returns an edit that removes required anti-affinity. Here that has the same
// effect as making it preferred.
func SoftAntiAffinity() Edit { return Edit{Name: "softAntiAffinity", Make: softAntiAffinity} }

func softAntiAffinity(w *workload.Workload) bool {
	if w.Spec.Affinity == nil || w.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	a := w.Spec.Affinity.DeepCopy()
	a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	w.Spec.Affinity = a
	return true
}

// EachSpread returns an edit that changes every hard spread constraint on a key. The name
// identifies the edit.
func EachSpread(name, key string, edit func(*corev1.TopologySpreadConstraint)) Edit {
	return Edit{Name: name + " " + key, Make: func(w *workload.Workload) bool {
		c := respread(w, func(t *corev1.TopologySpreadConstraint) bool {
			applies := t.TopologyKey == key && t.WhenUnsatisfiable == corev1.DoNotSchedule
			if applies {
				edit(t)
			}
			return applies
		})
		if c != nil {
			*w = *c
		}
		return c != nil
	}}
}

// TopologyKey returns an edit that replaces a topology key in spread constraints and in required
// terms.
func TopologyKey(from, to string) Edit {
	return Edit{Name: "key " + from + " " + to, Make: func(w *workload.Workload) bool {
		spreads, changed := slices.Clone(w.Spec.TopologySpreadConstraints), false
		swap := func(key *string) {
			if *key == from {
				*key, changed = to, true
			}
		}
		for i := range spreads {
			swap(&spreads[i].TopologyKey)
		}
		w.Spec.TopologySpreadConstraints = spreads
		if w.Spec.Affinity != nil {
			a := w.Spec.Affinity.DeepCopy()
			if p := a.PodAffinity; p != nil {
				for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
					swap(&p.RequiredDuringSchedulingIgnoredDuringExecution[i].TopologyKey)
				}
			}
			if p := a.PodAntiAffinity; p != nil {
				for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
					swap(&p.RequiredDuringSchedulingIgnoredDuringExecution[i].TopologyKey)
				}
			}
			w.Spec.Affinity = a
		}
		return changed
	}}
}

// PerRevision returns an edit that limits required anti-affinity and hard spread constraints to
// pods of the same revision.
func PerRevision() Edit { return Edit{Name: "perRevision", Make: perRevision} }

func perRevision(w *workload.Workload) (changed bool) {
	for _, edit := range []func(*workload.Workload) *workload.Workload{revisionsApart, revisionsCounted} {
		if c := edit(w); c != nil {
			*w, changed = *c, true
		}
	}
	return changed
}

// Soft returns an edit that makes hard rules on a key soft. It makes spread constraints soft and
// removes required affinity or anti-affinity terms.
func Soft(use model.Use, key string) Edit {
	if use == model.Spread {
		return EachSpread("soft", key, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })
	}
	return Edit{Name: fmt.Sprint("soft ", use, " ", key), Make: func(w *workload.Workload) bool {
		if w.Spec.Affinity == nil {
			return false
		}
		a := w.Spec.Affinity.DeepCopy()
		var list *[]corev1.PodAffinityTerm
		switch {
		case use == model.AntiAffinity && a.PodAntiAffinity != nil:
			list = &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		case use == model.Affinity && a.PodAffinity != nil:
			list = &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		default:
			return false
		}
		before := len(*list)
		*list = slices.DeleteFunc(*list, func(t corev1.PodAffinityTerm) bool { return t.TopologyKey == key })
		w.Spec.Affinity = a
		return len(*list) < before
	}}
}

// Tolerate returns an edit that adds a toleration for a taint.
func Tolerate(taint *corev1.Taint) Edit {
	return Edit{Name: "tolerate " + taint.Key + " " + string(taint.Effect), Make: func(w *workload.Workload) bool {
		w.Spec.Tolerations = append(slices.Clone(w.Spec.Tolerations), corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists, Effect: taint.Effect})
		return true
	}}
}

// AnyNode returns an edit that removes the node selector and the node affinity.
func AnyNode() Edit {
	return Edit{Name: "anyNode", Make: func(w *workload.Workload) bool {
		w.Spec.NodeSelector = nil
		if w.Spec.Affinity != nil {
			a := w.Spec.Affinity.DeepCopy()
			a.NodeAffinity = nil
			w.Spec.Affinity = a
		}
		return true
	}}
}

// NoHostPorts returns an edit that removes host ports and the host network.
func NoHostPorts() Edit { return Edit{Name: "noHostPorts", Make: noHostPorts} }

func noHostPorts(w *workload.Workload) bool {
	w.Spec.HostNetwork = false
	for _, list := range []*[]workload.Container{&w.Spec.Containers, &w.Spec.InitContainers} {
		*list = slices.Clone(*list)
		for i := range *list {
			ports := slices.Clone((*list)[i].Ports)
			for p := range ports {
				ports[p].HostPort = 0
			}
			(*list)[i].Ports = ports
		}
	}
	return true
}
