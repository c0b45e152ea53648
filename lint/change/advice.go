package change

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/placement"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Edit is a change of a workload that advice names.
type Edit struct {
	// Name tells edits apart that make something else of like workloads.
	Name string
	// Pods is the number of pods that it sets, or 0.
	Pods int
	// Make changes a copy of a workload; false if there is nothing to change. Nil
	// changes nothing.
	Make func(*workload.Workload) bool
}

// Holds reports whether advice can be followed: whether a workload with the edit,
// on the nodes and so many more that are like one of its own, is placed as a whole
// in every run, completes every rollout and finds room when a node is drained. What
// the budget for advice does not suffice for does not hold.
func (j *Judge) Holds(w *workload.Workload, edit Edit, more int) bool {
	if j.unready || j.m.Topology.Empty() {
		return false
	}
	pods := max(Certain(w), edit.Pods)
	group := j.crowd(w, pods)
	if len(group) != 1 || len(j.running) > 0 {
		return j.try(w, edit, group, more)
	}
	key := trialKey{j.shape(w, pods), edit.Name, more}
	if key.shape == "" {
		return j.try(w, edit, group, more)
	}
	held, known := j.advice.known[key]
	if !known {
		held = j.try(w, edit, group, more)
		j.advice.known[key] = held
	}
	return held
}

// shape is that of a workload with at most so many pods: several edits are tried.
func (j *Judge) shape(w *workload.Workload, pods int) string {
	key := sized{w, pods}
	shape, known := j.shapes[key]
	if !known {
		shape = j.m.Shape(w, j.strategy(w, w.Count.N), pods)
		j.shapes[key] = shape
	}
	return shape
}

// try tries an edit of a workload among a group, on so many nodes more.
func (j *Judge) try(w *workload.Workload, edit Edit, group []*workload.Workload, more int) bool {
	c := *w
	if edit.Make != nil && !edit.Make(&c) {
		return false
	}
	t := &trial{j: j, w: w, changed: &c, group: group, nodes: j.m.Topology.Nodes}
	for i := range more {
		n := j.oneMore(w)
		if n == nil {
			return false
		}
		n.Name = fmt.Sprintf("%s %d", n.Name, i+1)
		for k, v := range n.Labels {
			if v == ownDomain(k) { // no two of them share it
				n.Labels[k] = fmt.Sprintf("%s %d", v, i+1)
			}
		}
		t.nodes = append(slices.Clip(t.nodes), n)
	}
	return t.try()
}

// Change is an edit of a workload.
type Change struct {
	Workload *workload.Workload
	Edit     Edit
}

// HoldTogether is Holds for several workloads at once, with all of the changes and
// further nodes: each of the workloads is placed, rolls out and can be drained.
func (j *Judge) HoldTogether(ws []*workload.Workload, changes []Change, further []*topology.Node) bool {
	if j.unready {
		return false
	}
	var group []*workload.Workload
	for _, w := range ws {
		for _, o := range append(slices.Clip(j.crowd(w, Certain(w))), w) {
			if !slices.Contains(group, o) {
				group = append(group, o)
			}
		}
	}
	ws = slices.Clone(ws)
	for _, c := range changes {
		edited := *c.Workload
		if i := slices.IndexFunc(ws, func(w *workload.Workload) bool { return w.Object == c.Workload.Object }); i >= 0 {
			edited = *ws[i]
		}
		if c.Edit.Make != nil && !c.Edit.Make(&edited) {
			return false
		}
		for _, list := range [][]*workload.Workload{ws, group} {
			for i, o := range list {
				if o.Object == c.Workload.Object {
					list[i] = &edited
				}
			}
		}
	}
	t := &trial{j: j, group: group, nodes: append(slices.Clip(j.m.Topology.Nodes), further...)}
	return t.within(func() bool {
		m, other := t.world()
		return !slices.ContainsFunc(ws, func(w *workload.Workload) bool { return !t.passes(m, other, w) })
	})
}

// trial is one piece of advice on probation.
type trial struct {
	j          *Judge
	w, changed *workload.Workload
	group      []*workload.Workload
	nodes      []*topology.Node
}

// try puts the changed workload in its place.
func (t *trial) try() bool {
	t.group = slices.Clone(t.group)
	if i := slices.Index(t.group, t.w); i >= 0 {
		t.group[i] = t.changed
	} else {
		t.group = append(t.group, t.changed)
	}
	return t.within(func() bool {
		m, other := t.world()
		return t.passes(m, other, t.changed)
	})
}

// within asks a question about the trial: it does not hold if the budget of its group
// does not suffice. At least half of what is left stays for the question that the
// advice belongs to.
func (t *trial) within(f func() bool) (holds bool) {
	m := t.j.m
	return m.Run().Within(min(m.Each(t.group), m.Run().Left()/2), func() { holds = f() }) && holds
}

// world is the model of a trial, and who judges it.
func (t *trial) world() (*placement.Model, *Judge) {
	m := t.j.m.Variant(append(slices.Clone(t.group), t.j.running...), t.nodes)
	return m, t.j.other(m)
}

// passes reports whether a workload of a trial is placed, rolls out and can be drained.
func (t *trial) passes(m *placement.Model, other *Judge, w *workload.Workload) bool {
	if !other.Judged(w) {
		return false
	}
	rolls := false // which says that all pods are placed before, too
	for _, r := range other.Rollouts(w) {
		if r.Verdict != placement.Always && r.Verdict != "" {
			return false
		}
		rolls = rolls || r.Verdict == placement.Always
	}
	if !rolls {
		if d := placement.Decide(m, other.options(other.steps)); verdict(d, w) != placement.Always {
			return false
		}
	}
	if len(t.nodes) < 2 || w.Bare() {
		return true
	}
	return !slices.ContainsFunc(other.Drains(w), func(s Survival) bool { return s.Verdict != placement.Always })
}

// Advice is what trials of advice have shown: judges of the same nodes may share it.
type Advice struct{ known map[trialKey]bool }

// trialKey is what the outcome of a trial rests on, for a workload by itself.
type trialKey struct {
	shape, edit string
	more        int
}

// NewAdvice is advice of which nothing has been tried.
func NewAdvice() *Advice { return &Advice{map[trialKey]bool{}} }

// ShareAdvice makes a judge use what another one of the same nodes has tried.
func (j *Judge) ShareAdvice(a *Advice) { j.advice = a }

// Replicas sets the number of pods.
func Replicas(n int) Edit {
	return Edit{fmt.Sprint("replicas ", n), n, func(w *workload.Workload) bool {
		w.Count.N, w.Count.Known, w.Scale = n, true, nil
		return n > 0
	}}
}

// SpreadOnNodes adds a hard spread constraint over nodes; with revisions the pods
// of each revision are spread by themselves and nodes whose taints the pods do not
// tolerate do not count.
func SpreadOnNodes(revisions bool) Edit {
	return Edit{fmt.Sprint("spread ", revisions), 0, func(w *workload.Workload) bool {
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

// ApartOnNodes adds required anti-affinity of the pods among themselves over nodes.
func ApartOnNodes() Edit { return Edit{"apartOnNodes", 0, apartOnNodes} }

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

// own is a selector of a workload's own pods.
func own(w *workload.Workload) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: maps.Clone(w.Labels)}
}

// Both makes two edits.
func Both(a, b Edit) Edit {
	return Edit{a.Name + " and " + b.Name, max(a.Pods, b.Pods), func(w *workload.Workload) bool { return a.Make(w) && b.Make(w) }}
}

// SoftAntiAffinity makes required anti-affinity preferred, which the scheduler may
// break.
func SoftAntiAffinity() Edit { return Edit{"softAntiAffinity", 0, softAntiAffinity} }

func softAntiAffinity(w *workload.Workload) bool {
	if w.Spec.Affinity == nil || w.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	a := w.Spec.Affinity.DeepCopy()
	a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	w.Spec.Affinity = a
	return true
}

// EachSpread edits the hard spread constraints on a key; the name tells what it makes
// of them.
func EachSpread(name, key string, edit func(*corev1.TopologySpreadConstraint)) Edit {
	return Edit{name + " " + key, 0, func(w *workload.Workload) bool {
		all, changed := slices.Clone(w.Spec.TopologySpreadConstraints), false
		for i := range all {
			if all[i].TopologyKey == key && all[i].WhenUnsatisfiable == corev1.DoNotSchedule {
				edit(&all[i])
				changed = true
			}
		}
		w.Spec.TopologySpreadConstraints = all
		return changed
	}}
}

// TopologyKey writes another topology key in the terms that use one.
func TopologyKey(from, to string) Edit {
	return Edit{"key " + from + " " + to, 0, func(w *workload.Workload) bool {
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
			for _, list := range required(a) {
				for i := range *list {
					swap(&(*list)[i].TopologyKey)
				}
			}
			w.Spec.Affinity = a
		}
		return changed
	}}
}

// required are the lists of required terms about pods.
func required(a *corev1.Affinity) []*[]corev1.PodAffinityTerm {
	var all []*[]corev1.PodAffinityTerm
	if a.PodAffinity != nil {
		all = append(all, &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		all = append(all, &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return all
}

// PerRevision lets required anti-affinity and hard spread look at pods of the same
// revision only.
func PerRevision() Edit { return Edit{"perRevision", 0, perRevision} }

func perRevision(w *workload.Workload) bool {
	c, changed := revisionsApart(w), false
	if c != nil {
		*w, changed = *c, true
	}
	if c = revisionsCounted(w); c != nil {
		*w, changed = *c, true
	}
	return changed
}

// Soft makes the hard terms of a use on a key preferred.
func Soft(use placement.Use, key string) Edit {
	if use == placement.Spread {
		return EachSpread("soft", key, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })
	}
	return Edit{fmt.Sprint("soft ", use, " ", key), 0, func(w *workload.Workload) bool {
		if w.Spec.Affinity == nil {
			return false
		}
		a := w.Spec.Affinity.DeepCopy()
		var list *[]corev1.PodAffinityTerm
		switch {
		case use == placement.AntiAffinity && a.PodAntiAffinity != nil:
			list = &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		case use == placement.Affinity && a.PodAffinity != nil:
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

// Tolerate adds a toleration of a taint.
func Tolerate(taint *corev1.Taint) Edit {
	return Edit{"tolerate " + taint.Key + " " + string(taint.Effect), 0, func(w *workload.Workload) bool {
		w.Spec.Tolerations = append(slices.Clone(w.Spec.Tolerations), corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists, Effect: taint.Effect})
		return true
	}}
}

// AnyNode drops the node selector and the required node affinity.
func AnyNode() Edit {
	return Edit{"anyNode", 0, func(w *workload.Workload) bool {
		w.Spec.NodeSelector = nil
		if w.Spec.Affinity != nil {
			a := w.Spec.Affinity.DeepCopy()
			a.NodeAffinity = nil
			w.Spec.Affinity = a
		}
		return true
	}}
}

// NoHostPorts drops the host ports.
func NoHostPorts() Edit { return Edit{"noHostPorts", 0, noHostPorts} }

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
