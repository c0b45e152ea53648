package workload

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
)

// claims reports whether the workload has volumeClaimTemplates. Each pod may then need additional
// volume claims.
func (w *Workload) claims() bool {
	return slices.ContainsFunc(w.Claims, func(c *Claim) bool { return c.Template })
}

// mayExceed reports whether the workloads in a namespace may need more than a ResourceQuota allows,
// including the extra pods that autoscalers and rollouts create. It ignores quota scopes, because
// they only exclude pods from the quota (pkg/quota/v1/evaluator/core/pods.go). Pod counts are
// multiplied by times. While nodes are unreachable, times is 2, because replacements exist in
// addition to the old pods. Otherwise, times is 1.
func (l *loader) mayExceed(o *source.Object, members []*Workload, times int) bool {
	var spec corev1.ResourceQuotaSpec
	for _, m := range l.decoder.Decode(o.Root.Get("spec"), &spec) {
		if !strings.HasPrefix(m.Path, "scope") {
			return true
		}
	}
	for name, hard := range spec.Hard {
		sum := 0.0
		for _, w := range members {
			each, known := w.counts(string(name))
			if !known {
				return true
			}
			if each == 0 || w.Copy || w.Superseded {
				continue
			}
			most := w.Count.N
			if w.Scale != nil {
				most = max(most, w.Scale.Max)
			}
			how := w.Rollout(most)
			if how.Way == BothWhole {
				how.Surge = most
			}
			if !w.Count.Known || w.Kind.PerNode() || w.Kind.Kind == "CronJob" || w.Kind.VM || how.Unknown.Given() {
				return true
			}
			sum += each * float64(times*most+how.Surge)
		}
		if sum > hard.AsApproximateFloat64()*(1+1e-9) {
			return true
		}
	}
	return false
}

// counts returns the maximum amount of a resource that a ResourceQuota counts for one pod. known is
// false if this amount cannot be determined.
func (w *Workload) counts(name string) (each float64, known bool) {
	object, counted := strings.CutPrefix(name, "count/")
	switch {
	case object == "pods":
		return 1, true
	case strings.Contains(object, "storage") && !strings.Contains(object, "ephemeral"), object == "persistentvolumeclaims":
		return 0, !w.claims()
	case slices.Contains([]string{"configmaps", "secrets", "services", "resourcequotas"}, object), strings.HasPrefix(object, "services."):
		return 0, true
	case counted, w.Spec.Resources != nil, w.Spec.RuntimeClassName != "", len(w.Spec.Overhead) > 0:
		return 0, false
	}
	limited := strings.HasPrefix(name, "limits.")
	resource := corev1.ResourceName(strings.TrimPrefix(strings.TrimPrefix(name, "limits."), "requests."))
	for _, list := range [][]Container{w.Spec.Containers, w.Spec.InitContainers} {
		for i := range list {
			c := effectiveResources(&list[i])
			n, has := c.Requests[resource]
			if limited {
				n, has = c.Limits[resource]
			}
			if !has && (resource == corev1.ResourceCPU || resource == corev1.ResourceMemory) {
				return 0, false // the quota rejects pods that do not set it
			}
			each += n.AsApproximateFloat64()
		}
	}
	return each, true
}
