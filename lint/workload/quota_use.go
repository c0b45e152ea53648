package workload

import (
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// governing holds the objects of a set that say what the pods of namespaces may ask for.
type governing struct {
	quotas     []*quota
	limits     []*limitRange
	priorities map[string]*priorityClass
	// joined reports whether a quota certainly applies to a workload's pods.
	joined func(o *source.Object, w *Workload) bool
}

// QuotaUse compares an amount of a ResourceQuota with what the pods of its namespace ask for.
type QuotaUse struct {
	Quota *source.Object
	// Name is the name of the amount in spec.hard, and Resource what it counts, such as cpu for
	// requests.cpu.
	Name, Resource corev1.ResourceName
	Hard           resource.Quantity
	// Scoped is set if the quota counts some pods only.
	Scoped bool
	// Least and Most are sums for the smallest and the largest numbers of replicas. Most is no bound if
	// Open is set.
	Least, Most resource.Quantity
	Open        bool
}

// QuotaUses adds up what the declared pods ask for of each ResourceQuota, whether or not they exceed
// it (R-P10). It leaves out quotas that the API server may reject.
func (s *Set) QuotaUses() iter.Seq[QuotaUse] {
	return func(yield func(QuotaUse) bool) {
		var members bySpace[*Workload]
		for _, w := range s.Workloads {
			members.add(w.Object.Namespace, w)
		}
		for _, q := range s.governing.quotas {
			for _, name := range slices.Sorted(maps.Keys(q.spec.Hard)) {
				if !q.open && !yield(s.use(q, name, members.of(q.object.Namespace))) {
					return
				}
			}
		}
	}
}

func (s *Set) use(q *quota, name corev1.ResourceName, members []*Workload) QuotaUse {
	u := QuotaUse{Quota: q.object, Name: name, Resource: BaseOf(name), Hard: q.spec.Hard[name], Scoped: len(q.scopes()) > 0}
	native := slices.Contains([]corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}, u.Resource)
	u.Open = !native && (!strings.HasPrefix(string(name), quotaPrefix) || u.Resource == corev1.ResourceStorage) // it counts other objects
	for _, w := range members {
		admitted := *w
		if strings.HasPrefix(w.Admission, "ResourceQuota ") { // what refuses pods for want of room does not change them
			admitted.Admission = ""
		}
		covered := q.covers(&admitted, s.governing.priorities)
		refused := func(p Problem) bool { return !p.Some && p.Stage != StageQuota }
		if w.Copy || w.Superseded || covered == diag.Never || slices.ContainsFunc(w.Problems, refused) {
			continue
		}
		each, known := admitted.Counts(name)
		low, high := w.Count.N, w.Count.N
		if w.Scale != nil {
			low, high = min(low, w.Scale.Min), max(high, w.Scale.Max)
		}
		if !known || !w.Count.Known || w.Kind.PerNode() || w.Kind.Kind == "CronJob" || w.Kind.VM {
			u.Open = u.Open || !known || !each.IsZero()
			continue
		}
		share := share{w: w, each: each}
		u.Most.Add(share.times(high))
		if covered == diag.Always && s.governing.joined(q.object, w) && !w.Finite() && !w.Paused() && !w.Elsewhere {
			u.Least.Add(share.times(low))
		}
	}
	return u
}

// LimitRanges returns the LimitRanges of the set, each with one of its items, as the API server
// stores it.
func (s *Set) LimitRanges() iter.Seq2[*source.Object, *corev1.LimitRangeItem] {
	return func(yield func(*source.Object, *corev1.LimitRangeItem) bool) {
		for _, r := range s.governing.limits {
			for i := range r.items {
				if !r.open && !yield(r.object, &r.items[i]) {
					return
				}
			}
		}
	}
}
