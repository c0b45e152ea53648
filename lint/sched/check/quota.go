package check

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// mostCreated is the maximum number of pods to replay.
const mostCreated = 10_000

// Contest replays, pod by pod, both orders in which the controllers of a namespace may create pods
// (R-P10). In the first, all pods of w are created. In the second, pods of other workloads are
// created first, and then not all of w.
func (Checker) Contest(m *model.Model, w *workload.Workload) error {
	c, sum := w.Contested, w.Count.N
	for _, f := range c.First {
		if sum += f.Pods; f.Workload == w || f.Pods > f.Count.N || !slices.Contains(m.Workloads, f.Workload) || workload.Space(f.Object.Namespace) != workload.Space(w.Object.Namespace) {
			return fmt.Errorf("%s does not create %d other pods", f.Workload, f.Pods)
		}
	}
	if sum > mostCreated {
		return certificate.ErrTooLong
	}
	before, err := created(m, w, w.Count.N, c.Quotas, nil)
	if err != nil {
		return err
	}
	after, err := created(m, w, w.Count.N, c.Quotas, c.First)
	if err == nil && (before < w.Count.N || after == w.Count.N || after != c.Pods) {
		err = fmt.Errorf("%s: %d of %d pods are created before others, and %d after them", w, before, w.Count.N, after)
	}
	return err
}

// Room replays the creation of all pods that certainly exist beside those of w, and of one more pod of w
// than q says. The quota must reject that one (R-P10).
func (Checker) Room(m *model.Model, w *workload.Workload, q *workload.QuotaRoom) error {
	var first []workload.Created
	sum := q.Most + 1
	for _, o := range q.Beside {
		switch {
		case o.Object == w.Object || o.Running:
			continue
		case !slices.ContainsFunc(m.Workloads, func(x *workload.Workload) bool { return x.Object == o.Object }) || workload.Space(o.Object.Namespace) != workload.Space(w.Object.Namespace):
			return fmt.Errorf("%s is not beside %s", o, w)
		}
		first = append(first, workload.Created{Workload: o, Pods: o.CertainPods()})
		sum += o.CertainPods()
	}
	if sum > mostCreated {
		return certificate.ErrTooLong
	}
	pods, err := created(m, w, q.Most+1, []*source.Object{q.Quota}, first)
	if err == nil && pods > q.Most {
		err = fmt.Errorf("%s admits more than %d pods of %s", q.Name(), q.Most, w)
	}
	return err
}

// created returns how many pods of w, at most as many as given, the quotas admit once the running pods
// and the pods in first exist. It returns an error if they reject any of the pods in first.
func created(m *model.Model, w *workload.Workload, most int, quotas []*source.Object, first []workload.Created) (n int, err error) {
	used := make([]map[corev1.ResourceName]resource.Quantity, len(quotas))
	for i := range used {
		used[i] = map[corev1.ResourceName]resource.Quantity{}
	}
	add := func(of *workload.Workload, strict bool) (admitted bool, err error) {
		o := *of
		o.Admission = "" // it only says that a quota may reject pods
		next := make([]map[corev1.ResourceName]resource.Quantity, len(used))
		for i, q := range quotas {
			next[i] = map[corev1.ResourceName]resource.Quantity{}
			for key, value := range q.Root.At("spec", "hard").Fields() {
				name := corev1.ResourceName(key.Value)
				hard, err := resource.ParseQuantity(value.Value)
				if whole, ok := value.Int(); ok { // such as 0x10
					hard, err = *resource.NewQuantity(whole, resource.DecimalSI), nil
				}
				each, known := o.Counts(name)
				if err != nil || !known {
					return false, fmt.Errorf("%s: what the pods take of %s is not known", of, name)
				}
				each.Add(used[i][name])
				if strict && each.Cmp(hard) > 0 {
					return false, nil
				}
				next[i][name] = each
			}
		}
		used = next
		return true, nil
	}
	for _, o := range m.Workloads {
		if o.Running && workload.Space(o.Object.Namespace) == workload.Space(w.Object.Namespace) {
			if _, err := add(o, false); err != nil {
				return 0, err
			}
		}
	}
	for _, f := range first {
		for range f.Pods {
			if ok, err := add(f.Workload, true); err != nil || !ok {
				return 0, cmp.Or(err, fmt.Errorf("a pod of %s is not created", f.Workload))
			}
		}
	}
	for n < most {
		ok, err := add(w, true)
		if err != nil || !ok {
			return n, err
		}
		n++
	}
	return n, nil
}
