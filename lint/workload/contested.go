package workload

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Contested describes how pods of other workloads may take a ResourceQuota first (R-P10). Without
// them, the quotas of the namespace admit all pods of the workload. After First are created, Quota
// admits only Pods of them.
type Contested struct {
	Quotas []*source.Object // of the namespace
	First  []Created
	Pods   int

	Quota *source.Object
	// Name is the amount of Quota that is used up: the workload needs Need of Hard, of which others
	// take Taken.
	Name              corev1.ResourceName
	Need, Taken, Hard resource.Quantity
}

// Created is a number of pods of a workload that are created one after another.
type Created struct {
	*Workload
	Pods int
}

// mostContending limits the workloads of a namespace whose orders are tried.
const mostContending = 50

// ledger adds up what the pods of a namespace take, by amount of a ResourceQuota.
type ledger struct {
	names      []corev1.ResourceName
	quotas     []*source.Object
	hard, used []resource.Quantity
	takes      map[*Workload][]resource.Quantity // of one pod
}

// room returns how many pods of a workload the quotas still admit, and which amount limits them.
func (l *ledger) room(w *Workload) (pods, by int) {
	pods = w.Count.N
	for i, each := range l.takes[w] {
		n := pods
		switch {
		case !each.IsZero():
			n = fit(l.hard[i], l.used[i], resource.Quantity{}, each)
		case l.used[i].Cmp(l.hard[i]) > 0:
			n = 0
		}
		if n < pods {
			pods, by = n, i
		}
	}
	return pods, by
}

// with returns a ledger with more pods of a workload.
func (l ledger) with(w *Workload, pods int) ledger {
	l.used = slices.Clone(l.used)
	for i, each := range l.takes[w] {
		s := share{each: each}
		sum := s.times(pods)
		sum.Add(l.used[i])
		l.used[i] = sum
	}
	return l
}

// contend sets Contested of the workloads whose pods the quotas of a namespace admit if they come
// first, but not in another order. Nothing is set where it is not certain what the quotas count.
func contend(quotas []*quota, members []*Workload, doubts map[*Workload]string) {
	if len(members) > mostContending || slices.ContainsFunc(quotas, func(q *quota) bool { return q.open || len(q.scopes()) > 0 }) {
		return
	}
	l := ledger{takes: map[*Workload][]resource.Quantity{}}
	var objects []*source.Object
	for _, q := range quotas {
		objects = append(objects, q.object)
		for _, name := range slices.Sorted(maps.Keys(q.spec.Hard)) {
			l.names, l.quotas, l.hard = append(l.names, name), append(l.quotas, q.object), append(l.hard, q.spec.Hard[name])
		}
	}
	l.used = make([]resource.Quantity, len(l.names))
	var creates []*Workload
	for _, o := range members {
		if o.Copy || o.Superseded || o.Refused() {
			continue
		}
		counted := !slices.ContainsFunc(quotas, func(q *quota) bool { return q.covered[o] != diag.Always })
		for _, name := range l.names {
			each, known := o.Counts(name)
			l.takes[o], counted = append(l.takes[o], each), counted && known
		}
		switch {
		case o.Running && !counted:
			return
		case o.Running:
			l = l.with(o, 1)
		case counted && o.Admission == "" && o.Count.Known && !o.Kind.PerNode() && o.Kind.Kind != "CronJob" && !o.Kind.VM && !o.Finite() && !o.Paused() && !o.Elsewhere && !o.Queued() && !o.OpenClass():
			creates = append(creates, o)
		}
	}
	for _, w := range creates {
		if pods, _ := l.room(w); doubts[w] == "" || w.Scale != nil || pods < w.Count.N {
			continue
		}
		best := &Contested{Pods: w.Count.N}
		for i := range l.names {
			then, first := l, []Created(nil)
			for _, o := range creates {
				if o == w || l.takes[o][i].IsZero() || l.takes[w][i].IsZero() {
					continue
				}
				n, _ := then.room(o)
				if n = min(n, o.started()); n > 0 {
					first, then = append(first, Created{o, n}), then.with(o, n)
				}
			}
			if pods, by := then.room(w); pods < best.Pods {
				s := share{each: l.takes[w][by]}
				best = &Contested{Quotas: objects, First: first, Pods: pods, Quota: l.quotas[by], Name: l.names[by], Need: s.times(w.Count.N), Taken: then.used[by], Hard: l.hard[by]}
			}
		}
		if best.Quota != nil {
			w.Contested = best
		}
	}
}

// started returns how many pods exist even if none of them is ready.
func (w *Workload) started() int {
	if w.Ordered() {
		return min(1, w.CertainPods())
	}
	return w.CertainPods()
}

// Ordered reports whether each pod is created only when the one before is ready (R-W12).
func (w *Workload) Ordered() bool {
	return w.Kind.Kind == "StatefulSet" && w.Object.Root.At("spec", "podManagementPolicy").Text() != "Parallel"
}
