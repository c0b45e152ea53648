package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/schedlint/schedlint/lint/source"
)

// containers checks the resources of all containers, the overhead and the pod-level resources.
func (c *checker) containers(spec *place) {
	for _, group := range [...]struct {
		name  string
		typed []Container
	}{{"containers", c.w.Spec.Containers}, {"initContainers", c.w.Spec.InitContainers}} {
		list := spec.field(group.name)
		for i, n := range list.value.Items()[:min(list.len(), len(group.typed))] {
			resources := list.item(i, n).field("resources")
			c.resources(resources, &group.typed[i].Resources, containerResource)
			c.hugePages(resources.field("limits"), resources.field("requests"))
		}
	}
	if overhead := spec.field("overhead"); !overhead.absent() {
		c.quantities(overhead, c.w.Spec.Overhead, containerResource)
		c.hugePages(overhead, &place{})
	}
	if c.w.Spec.Resources != nil {
		c.podResources(spec.field("resources"))
	}
}

// resources checks requests and limits (R-V32).
func (c *checker) resources(p *place, typed *Resources, name func(string) string) {
	if p.absent() {
		return
	}
	limits, requests := p.field("limits"), p.field("requests")
	before := len(c.w.Problems)
	c.quantities(limits, typed.Limits, name)
	c.quantities(requests, typed.Requests, name)
	if len(c.w.Problems) > before || limits.broken() || requests.broken() {
		return
	}
	for k, v := range requests.value.Fields() {
		q, ok := typed.Requests[corev1.ResourceName(k.Value)]
		limit, limited := typed.Limits[corev1.ResourceName(k.Value)]
		at, written := requests.entry(k, v), limits.value.Get(k.Value)
		strict := !native(k.Value) || hugePage(k.Value) // such a resource cannot be overcommitted
		switch {
		case !ok || !limited && written != nil: // unknown or of the wrong type
		case !limited && strict:
			c.refuse(StageObject, at, fmt.Sprintf("%s is requested without a limit: needs a limit equal to the request", k.Value), "set the limit to "+v.Value)
		case limited && strict && q.Cmp(limit) != 0:
			c.compared(StageObject, at, q, limit, "request of %s %s differs from its limit of %s: must be equal")
		case limited && q.Cmp(limit) > 0:
			c.compared(StageObject, at, q, limit, above)
		}
	}
}

const above = "request of %s %s exceeds its limit of %s"

// compared records a problem with an amount that does not agree with another one. The format has the
// amount, the resource and the other amount.
func (c *checker) compared(stage Stage, at *place, amount, other resource.Quantity, format string) {
	texts := Amounts(corev1.ResourceName(at.name), amount, other)
	c.refuse(stage, at, fmt.Sprintf(format, texts[0], at.name, texts[1]), "")
}

// hugePages records a problem if huge pages are set without cpu or memory.
func (c *checker) hugePages(limits, requests *place) {
	if limits.broken() || requests.broken() {
		return
	}
	var at *place
	for _, list := range [...]*place{limits, requests} {
		for k, v := range list.value.Fields() {
			switch {
			case k.Value == "cpu" || k.Value == "memory" || k.Placeholder():
				return
			case hugePage(k.Value) && at == nil:
				at = list.entry(k, v)
			}
		}
	}
	if at != nil {
		c.refuse(StageObject, at, at.name+" is set without cpu or memory: HugePages require cpu or memory", "")
	}
}

// quantities checks every name and quantity in a resource list. The function name returns the rule
// that a resource name breaks, or "".
func (c *checker) quantities(list *place, typed corev1.ResourceList, name func(string) string) {
	for k, v := range list.value.Fields() {
		q, ok := typed[corev1.ResourceName(k.Value)]
		if k.Placeholder() || !ok && !v.Placeholder() {
			continue
		}
		at := list.entry(k, v)
		if wrong := name(k.Value); wrong != "" {
			c.refuse(StageObject, at, fmt.Sprintf("resource is %q: %s", k.Value, wrong), "")
			continue
		}
		switch {
		case !ok:
		case q.Sign() < 0:
			c.refuse(StageObject, at, fmt.Sprintf("%s is %s: must not be negative", k.Value, v.Value), "")
		case !native(k.Value) && q.MilliValue()%1000 != 0:
			c.refuse(StageObject, at, fmt.Sprintf("%s is %s: must be an integer", k.Value, v.Value), "")
		case hugePage(k.Value) && !divisible(k.Value, q):
			c.refuse(StageObject, at, fmt.Sprintf("%s is %s: must be a multiple of the page size", k.Value, v.Value), "")
		}
	}
}

// containerResource returns the rule that the name of a container resource breaks, or ""
// (kubernetes: pkg/apis/core/validation/validation.go, validateContainerResourceName).
func containerResource(name string) string {
	switch {
	case name == "cpu" || name == "memory" || name == "ephemeral-storage":
	case len(validation.IsQualifiedName(name)) > 0:
		return labelKey.must
	case !strings.Contains(name, "/") && !hugePage(name):
		return "must be cpu, memory, ephemeral-storage, hugepages-<size> or have a domain, such as example.com/" + name
	case !native(name) && (strings.HasPrefix(name, quotaPrefix) || len(validation.IsQualifiedName(quotaPrefix+name)) > 0):
		return "must not start with requests. and must leave room for that prefix"
	}
	return ""
}

// podResource returns the rule that the name of a pod-level resource breaks, or "" (R-V33).
func podResource(name string) string {
	if !resourcehelper.IsSupportedPodLevelResource(corev1.ResourceName(name)) {
		return "must be cpu, memory or hugepages-<size> at pod level"
	}
	return ""
}

const quotaPrefix = corev1.DefaultResourceRequestsPrefix

// native reports whether a resource name is native to Kubernetes. The functions native, hugePage
// and divisible, and the check of extended resources in containerResource, mirror kubernetes:
// pkg/apis/core/helper/helpers.go.
func native(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, corev1.ResourceDefaultNamespacePrefix)
}

func hugePage(name string) bool { return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) }

func divisible(name string, q resource.Quantity) bool {
	text := strings.TrimPrefix(name, corev1.ResourceHugePagesPrefix)
	if source.Unwieldy(text) {
		return false
	}
	size, err := resource.ParseQuantity(text)
	// Value returns 0 for a size that does not fit in 63 bits.
	return err == nil && size.Sign() > 0 && size.MilliValue()%1000 == 0 && size.Value() != 0 && q.Value()%size.Value() == 0
}

// podResources checks the pod-level resources (R-V33).
func (c *checker) podResources(p *place) {
	if os := c.w.Spec.OS; os != nil && os.Name == corev1.Windows {
		c.refuse(StageObject, p, "pod-level resources is set: must not be set for a Windows pod", "")
		return
	}
	if claims := p.field("claims"); !claims.absent() {
		c.refuse(StageObject, claims, "claims is set at pod level: must be set in containers", "")
	}
	before := len(c.w.Problems)
	c.resources(p, c.w.Spec.Resources, podResource)
	if len(c.w.Problems) > before {
		return
	}
	limits, requests := p.field("limits"), p.field("requests")
	declared, defaulted := c.aggregate(p.up, false), c.aggregate(p.up, true)
	if c.created != StageObject || defaulted.Cpu().IsZero() && defaulted.Memory().IsZero() { // otherwise defaults set the missing requests
		c.hugePages(limits, requests)
	}
	for k, v := range requests.value.Fields() {
		stage, name := StageObject, corev1.ResourceName(k.Value)
		q, ok := c.w.Spec.Resources.Requests[name]
		sum := declared[name]
		if sum.Cmp(q) <= 0 {
			stage, sum = c.created, defaulted[name]
		}
		if ok && sum.Cmp(q) > 0 {
			c.compared(stage, requests.entry(k, v), q, sum, "pod request of %s %s is lower than its containers' requests of %s")
		}
	}
	// The limit of a container must not exceed the pod limit. If the pod has no request, its limit
	// becomes the request and must cover the requests of the containers.
	for k, v := range limits.value.Fields() {
		name := corev1.ResourceName(k.Value)
		q, ok := c.w.Spec.Resources.Limits[name]
		if !ok {
			continue
		}
		at, sum := limits.entry(k, v), defaulted[name]
		above := slices.IndexFunc(c.w.Spec.Containers, func(container Container) bool {
			l, ok := container.Resources.Limits[name]
			return ok && l.Cmp(q) > 0
		})
		switch {
		case above >= 0:
			container := &c.w.Spec.Containers[above]
			texts := Amounts(name, q, container.Resources.Limits[name])
			c.refuse(StageObject, at, fmt.Sprintf("pod limit of %s %s is lower than the limit of container %q, %s", texts[0], k.Value, container.Name, texts[1]), "")
		case requests.value.Get(k.Value) == nil && sum.Cmp(q) > 0:
			c.compared(c.created, at, q, sum, "pod limit of %s %s is lower than its containers' requests of %s")
		}
	}
}

// aggregate returns the total requests of all containers. If defaulted is true, unset requests
// default to the limits (R-P3).
func (c *checker) aggregate(spec *place, defaulted bool) corev1.ResourceList {
	convert := func(name string, from []Container) (to []corev1.Container) {
		nodes := spec.value.Get(name).Items()
		for i := range from {
			requests := maps.Clone(from[i].Resources.Requests)
			if requests == nil {
				requests = corev1.ResourceList{}
			}
			declared := nodes[i].At("resources", "requests")
			for name, q := range from[i].Resources.Limits {
				if defaulted && (declared.IsNull() || declared.Kind == source.Map && declared.Get(string(name)) == nil) {
					requests[name] = q
				}
			}
			container := corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests}}
			if policy := corev1.ContainerRestartPolicy(from[i].RestartPolicy); policy != "" {
				container.RestartPolicy = &policy
			}
			to = append(to, container)
		}
		return to
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: convert("containers", c.w.Spec.Containers), InitContainers: convert("initContainers", c.w.Spec.InitContainers)}}
	return resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
}

// size reads a quantity and checks that it is not negative.
func (c *checker) size(p *place) (q resource.Quantity, ok bool) {
	if p.absent() || p.value.Kind != source.Scalar || p.value.Type == source.Bool || p.value.Placeholder() || source.Unwieldy(p.value.Value) {
		return q, false
	}
	q, err := resource.ParseQuantity(p.value.Value)
	if err == nil && q.Sign() < 0 {
		c.refuse(StageObject, p, found(p, p.name)+": must not be negative", "")
		return q, false
	}
	return q, err == nil
}
