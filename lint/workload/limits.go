package workload

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
)

// limitRange is a decoded LimitRange. open is set if part of the spec is unknown.
type limitRange struct {
	object *source.Object
	name   string
	spec   corev1.LimitRangeSpec
	open   bool
}

// invalid reports whether the API server may reject a LimitRange, which then changes no pods
// (pkg/apis/core/validation/validation.go, ValidateLimitRange).
func (r *limitRange) invalid() bool {
	types := map[corev1.LimitType]bool{}
	for _, item := range r.spec.Limits {
		if types[item.Type] || item.Type != corev1.LimitTypeContainer && len(item.Default)+len(item.DefaultRequest) > 0 {
			return true
		}
		types[item.Type] = true
		rising := []corev1.ResourceList{item.Min, item.DefaultRequest, item.Default, item.Max}
		for i, low := range rising {
			for _, high := range rising[i+1:] {
				for name, least := range low {
					if most, has := high[name]; has && least.Cmp(most) > 0 {
						return true
					}
				}
			}
		}
		for name, request := range item.DefaultRequest {
			if limit, has := item.Default[name]; has && !overcommits(name) && limit.Cmp(request) != 0 {
				return true
			}
		}
	}
	return false
}

// overcommits reports whether the request for a resource may differ from the limit
// (pkg/apis/core/v1/helper/helpers.go, IsOvercommitAllowed).
func overcommits(name corev1.ResourceName) bool {
	return name == corev1.ResourceEphemeralStorage || !strings.ContainsAny(string(name), "/-")
}

// setDefaults sets the requests and limits that the only LimitRange of a namespace gives to pods
// without them. It leaves pods alone that the API server might reject (R-P9).
func (r *limitRange) setDefaults(w *Workload) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range r.spec.Limits {
		if len(item.MaxLimitRequestRatio) > 0 {
			return
		}
		if item.Type == corev1.LimitTypeContainer {
			own := mergeResources(item.Default, item.Max)
			maps.Copy(limits, own)
			maps.Copy(requests, mergeResources(mergeResources(item.DefaultRequest, own), item.Min))
		}
	}
	var lists [2][]Container
	for i, list := range [][]Container{w.Spec.Containers, w.Spec.InitContainers} {
		for _, c := range list {
			with := effectiveResources(&c)
			with = Resources{Requests: mergeResources(with.Requests, requests), Limits: mergeResources(with.Limits, limits)}
			for name, request := range with.Requests {
				if limit, limited := with.Limits[name]; limited && request.Cmp(limit) > 0 || !overcommits(name) && request.Cmp(limit) != 0 {
					return
				}
			}
			c.Resources = with
			lists[i] = append(lists[i], c)
		}
	}
	open := func(path string) bool {
		return strings.Contains(path, "ontainers") || strings.Contains(path, "resources")
	}
	if len(requests) > 0 && !r.open && !w.Kind.VM && w.Spec.Resources == nil && !slices.ContainsFunc(w.Open, open) {
		w.Spec.Containers, w.Spec.InitContainers, w.LimitRange = lists[0], lists[1], r.object
	}
}

// concerns reports whether a LimitRange may set a workload's container requests or reject its pods
// (plugin/pkg/admission/limitranger/admission.go; defaults in pkg/apis/core/v1/defaults.go). If
// only is false, another LimitRange in the namespace might set the limits that this one checks.
func (r *limitRange) concerns(w *Workload, only bool) bool {
	containers := slices.Concat(w.Spec.Containers, w.Spec.InitContainers)
	for _, item := range r.spec.Limits {
		// The LimitRange sets default limits and requests. checked holds every resource with a
		// minimum, maximum or ratio.
		limits := mergeResources(item.Default, item.Max)
		requests := mergeResources(mergeResources(item.DefaultRequest, limits), item.Min)
		checked := mergeResources(mergeResources(item.Max, item.Min), item.MaxLimitRequestRatio)
		switch item.Type {
		case corev1.LimitTypeContainer:
			if w.Kind.VM && len(requests)+len(checked) > 0 {
				return true
			}
			for i := range containers {
				c := effectiveResources(&containers[i])
				for name := range requests {
					request, has := c.Requests[name]
					_, limited := c.Limits[name]
					limit, given := limits[name]
					if !has || given && !limited && (!only || request.Cmp(limit) > 0) {
						return true
					}
				}
				if refuses(&item, c.Requests, mergeResources(c.Limits, limits)) {
					return true
				}
			}
		case corev1.LimitTypePod:
			if len(checked) > 0 && (w.Kind.VM || len(w.Spec.InitContainers) > 0 || w.Spec.Resources != nil) {
				return true
			}
			sum := Resources{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
			for i := range containers {
				c := effectiveResources(&containers[i])
				for name := range checked {
					request, has := c.Requests[name]
					limit, limited := c.Limits[name]
					if !has || !limited {
						return true
					}
					request.Add(sum.Requests[name])
					limit.Add(sum.Limits[name])
					sum.Requests[name], sum.Limits[name] = request, limit
				}
			}
			if refuses(&item, sum.Requests, sum.Limits) {
				return true
			}
		default:
			if w.claims() {
				return true
			}
		}
	}
	return r.open
}

// refuses reports whether a LimitRange may reject the given requests and limits.
func refuses(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) bool {
	for name, least := range item.Min {
		request, has := requests[name]
		if limit, limited := limits[name]; !has || request.Cmp(least) < 0 || limited && limit.Cmp(least) < 0 {
			return true
		}
	}
	for name, most := range item.Max {
		request := requests[name]
		if limit, limited := limits[name]; !limited || limit.Cmp(most) > 0 || request.Cmp(most) > 0 {
			return true
		}
	}
	for name, ratio := range item.MaxLimitRequestRatio {
		request, limit := requests[name], limits[name]
		if request.Sign() <= 0 || limit.Sign() <= 0 || limit.AsApproximateFloat64() > ratio.AsApproximateFloat64()*request.AsApproximateFloat64() {
			return true
		}
	}
	return false
}

// effectiveResources returns a container's resources. Unset requests default to the limits (R-P3).
func effectiveResources(c *Container) Resources {
	return Resources{Requests: mergeResources(c.Resources.Requests, c.Resources.Limits), Limits: c.Resources.Limits}
}

// mergeResources merges two lists. If a resource is in both, the amount in a wins.
func mergeResources(a, b corev1.ResourceList) corev1.ResourceList {
	all := make(corev1.ResourceList, len(a)+len(b))
	maps.Copy(all, b)
	maps.Copy(all, a)
	return all
}
