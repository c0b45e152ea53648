package workload

import (
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/source"
)

// governing holds the objects of a set that say what the pods of namespaces may ask for.
type governing struct {
	quotas []*quota
	limits []*limitRange
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

// QuotaUses returns what the declared pods ask for of each ResourceQuota (R-P10). It leaves out pods
// that exceed a quota one by one, and quotas that the API server may reject.
func (s *Set) QuotaUses() iter.Seq[QuotaUse] {
	return func(yield func(QuotaUse) bool) {
		for _, q := range s.governing.quotas {
			for i := range q.counted {
				c := &q.counted[i]
				u := QuotaUse{Quota: q.object, Name: c.name, Resource: BaseOf(c.name), Hard: q.spec.Hard[c.name], Scoped: len(q.scopes()) > 0, Least: c.least, Most: c.scaled, Open: c.unclear}
				if !slices.Contains([]corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}, u.Resource) {
					u.Open = u.Open || !strings.HasPrefix(string(c.name), quotaPrefix) || u.Resource == corev1.ResourceStorage // it counts other objects
				}
				if !q.open && !yield(u) {
					return
				}
			}
		}
	}
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
