package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// limitRange is a LimitRange as the API server stores it. open is set if part of it is unknown, or
// if the API server may reject it.
type limitRange struct {
	object *source.Object
	items  []corev1.LimitRangeItem
	open   bool
}

// limitRange reads a LimitRange and sets its defaults (pkg/apis/core/v1/defaults.go,
// SetDefaults_LimitRangeItem).
func (l *loader) limitRange(o *source.Object) *limitRange {
	var spec corev1.LimitRangeSpec
	r := &limitRange{object: o, open: len(l.decoder.Decode(o.Root.Get("spec"), &spec)) > 0}
	types := map[corev1.LimitType]bool{}
	for _, item := range spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			item.Default = mergeResources(item.Default, item.Max)
			item.DefaultRequest = mergeResources(mergeResources(item.DefaultRequest, item.Default), item.Min)
		}
		r.open = r.open || types[item.Type] || invalidLimits(&item)
		types[item.Type], r.items = true, append(r.items, item)
	}
	return r
}

// invalidLimits reports whether the API server may reject an item of a LimitRange, which then
// changes no pods (pkg/apis/core/validation/validation.go, ValidateLimitRange). Huge pages count as
// invalid, because they need other resources beside them.
func invalidLimits(item *corev1.LimitRangeItem) bool {
	switch item.Type {
	case corev1.LimitTypeContainer, corev1.LimitTypePod:
	case corev1.LimitTypePersistentVolumeClaim:
		return false // judged where it matters
	default:
		return true
	}
	if item.Type == corev1.LimitTypePod && len(item.Default)+len(item.DefaultRequest) > 0 {
		return true
	}
	rising := []corev1.ResourceList{item.Min, item.DefaultRequest, item.Default, item.Max}
	for i, low := range append(rising, item.MaxLimitRequestRatio) {
		for name, amount := range low {
			if hugePage(string(name)) || containerResource(string(name)) != "" || amount.Sign() < 0 {
				return true
			}
			for _, high := range rising[min(i+1, len(rising)):] {
				if most, has := high[name]; has && amount.Cmp(most) > 0 {
					return true
				}
			}
		}
	}
	for name, limit := range item.Default {
		if request := item.DefaultRequest[name]; !overcommits(name) && limit.Cmp(request) != 0 {
			return true
		}
	}
	for name, ratio := range item.MaxLimitRequestRatio {
		least, has := item.Min[name]
		most, limited := item.Max[name]
		x, y := comparable(most, least)
		if ratio.MilliValue() < 1000 || has && limited && float64(ratio.MilliValue())/1000 > float64(x)/float64(y) {
			return true
		}
	}
	return false
}

// overcommits reports whether the request for a resource may differ from the limit
// (pkg/apis/core/v1/helper/helpers.go, IsOvercommitAllowed).
func overcommits(name corev1.ResourceName) bool {
	return native(string(name)) && !hugePage(string(name))
}

// limit applies the LimitRanges of a namespace to a workload's pods and records the amounts that
// they reject (R-P9; plugin/pkg/admission/limitranger/admission.go). It returns the LimitRange whose
// effect is not known, or nil.
func (w *Workload) limit(ranges []*limitRange) *limitRange {
	if w.Refused() || w.Operator != "" { // an operator may add requests
		return nil
	}
	open := func(path string) bool {
		return strings.Contains(path, "ontainers") || strings.Contains(path, "resources")
	}
	for _, r := range ranges {
		for _, item := range r.items {
			if item.Type == corev1.LimitTypePersistentVolumeClaim && w.claims() {
				return r
			}
		}
		if r.open || len(r.items) > 0 && (w.Kind.VM || w.Spec.Resources != nil || slices.ContainsFunc(w.Open, open)) {
			return r
		}
	}
	lists := [2][]Container{slices.Clone(w.Spec.Containers), slices.Clone(w.Spec.InitContainers)}
	var by *source.Object
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			with := Resources{Requests: maps.Clone(c.Requested()), Limits: maps.Clone(c.Resources.Limits)}
			for _, r := range ranges {
				for _, item := range r.items {
					if !add(&with.Limits, c.Resources.Limits, item.Default) || !add(&with.Requests, c.Requested(), item.DefaultRequest) {
						return r
					}
					if len(item.DefaultRequest) > 0 {
						by = r.object
					}
				}
			}
			c.Resources = with
		}
	}
	given := w.Spec
	given.Containers, given.InitContainers = lists[0], lists[1]
	c := checker{w: w}
	for _, r := range ranges {
		spec := (&place{base: c.w.Kind.Template, value: c.w.TemplateNode}).field("spec")
		c.by = r.object
		for _, item := range r.items {
			switch item.Type {
			case corev1.LimitTypePod:
				pod, options := given.Pod(), resourcehelper.PodResourcesOptions{ExcludeOverhead: true}
				sum := Resources{Requests: resourcehelper.PodRequests(pod, options), Limits: resourcehelper.PodLimits(pod, options)}
				c.within(&item, spec.field("containers"), "pod", &sum)
			case corev1.LimitTypeContainer:
				for k, list := range [][]Container{given.Containers, given.InitContainers} {
					at := spec.field([]string{"containers", "initContainers"}[k])
					for i, n := range at.value.Items()[:min(at.len(), len(list))] {
						c.within(&item, at.item(i, n).field("resources"), "container", &list[i].Resources)
					}
				}
			}
		}
	}
	if by != nil && !w.Refused() {
		w.Spec, w.LimitRange = given, by
	}
	return nil
}

// add adds the defaults of resources that a container does not set itself. It returns false if an
// earlier LimitRange has another default.
func add(to *corev1.ResourceList, own, defaults corev1.ResourceList) bool {
	for name, q := range defaults {
		if _, set := own[name]; set {
			continue
		}
		if other, set := (*to)[name]; set && other.Cmp(q) != 0 {
			return false
		}
		if *to == nil {
			*to = corev1.ResourceList{}
		}
		(*to)[name] = q
	}
	return true
}

// within records the amounts of a container or pod that an item of a LimitRange rejects.
func (c *checker) within(item *corev1.LimitRangeItem, at *place, per string, given *Resources) {
	written := func(list string, name corev1.ResourceName) *place {
		for _, list := range []string{list, "limits"} { // the limit is the default request
			if p := at.field(list).field(string(name)); p.key != nil {
				return p
			}
		}
		return at
	}
	total := ""
	if per == "pod" {
		total = "total "
	}
	reject := func(p *place, fix, format string, args ...any) {
		if n := len(c.w.Problems); n == 0 || c.w.Problems[n-1].Field != p.path() { // an amount may be both limit and request
			c.refuse(StageLimits, p, fmt.Sprintf(format, args...), fix)
		}
	}
	for _, name := range sorting.Keys(given.Requests) { // the API server validates the pod with the defaults
		request, limit := given.Requests[name], given.Limits[name]
		_, limited := given.Limits[name]
		if _, set := item.DefaultRequest[name]; !set || limited && at.field("limits").field(string(name)).key != nil {
			continue
		}
		p, texts := written("requests", name), Amounts(name, request, limit)
		switch {
		case !overcommits(name) && !limited:
			reject(p, "set a limit of "+texts[0]+" "+string(name), "%s is requested by default without a limit: needs a limit equal to the request", name)
		case limited && request.Cmp(limit) > 0:
			reject(p, "set a limit of at least "+texts[0]+" "+string(name), "request of %s %s exceeds the default limit of %s", texts[0], name, texts[1])
		}
	}
	for _, bound := range [...]struct {
		amounts                corev1.ResourceList
		needed, other          string // lists
		name, allowed, exceeds string
		broken                 int // how a wrong amount compares with that of the LimitRange
	}{{item.Min, "request", "limit", "minimum", "at least", "is below", -1}, {item.Max, "limit", "request", "maximum", "at most", "exceeds", 1}} {
		for _, name := range sorting.Keys(bound.amounts) {
			for _, list := range []string{bound.needed, bound.other} {
				amount, has := given.Requests[name]
				if list == "limit" {
					amount, has = given.Limits[name]
				}
				x, y := comparable(amount, bound.amounts[name])
				texts := Amounts(name, amount, bound.amounts[name])
				switch fix := fmt.Sprintf("set a %s of %s %s %s", list, bound.allowed, texts[1], name); {
				case !has && list == bound.needed:
					reject(at, fix, "no %s of %s is set: the %s per %s is %s", list, name, bound.name, per, texts[1])
				case has && cmp.Compare(x, y) == bound.broken:
					reject(written(list+"s", name), fix, "%s%s of %s %s %s the %s of %s per %s", total, list, texts[0], name, bound.exceeds, bound.name, texts[1], per)
				}
			}
		}
	}
	for _, name := range sorting.Keys(item.MaxLimitRequestRatio) {
		ratio, request, limit := item.MaxLimitRequestRatio[name], given.Requests[name], given.Limits[name]
		texts := Amounts(name, request, limit)
		switch {
		case request.IsZero() || limit.IsZero():
			reject(at, "", "%s needs a request and a limit: the limit may be at most %s times the request", name, Amounts("", ratio)[0])
		case exceedsRatio(limit, ratio, request):
			reject(written("limits", name), "", "%slimit of %s %s is more than %s times the request of %s", total, texts[1], name, Amounts("", ratio)[0], texts[0])
		}
	}
}

// comparable returns two amounts in the same unit (plugin/pkg/admission/limitranger/admission.go,
// requestLimitEnforcedValues).
func comparable(a, b resource.Quantity) (int64, int64) {
	if a.Value() <= resource.MaxMilliValue && b.Value() <= resource.MaxMilliValue {
		return a.MilliValue(), b.MilliValue()
	}
	return a.Value(), b.Value()
}

// exceedsRatio reports whether a limit is more than ratio times a request.
func exceedsRatio(limit, ratio, request resource.Quantity) bool {
	x, y := comparable(limit, request)
	return float64(x)/float64(y)*1000 > float64(ratio.MilliValue())
}
