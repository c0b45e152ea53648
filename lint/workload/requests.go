package workload

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// Requested returns a container's requests. Like the API server, it uses limits as defaults for
// missing requests (pkg/apis/core/v1/defaults.go SetDefaults_Pod; R-P3). The caller must not change
// the result.
func (c *Container) Requested() corev1.ResourceList {
	if len(c.Resources.Limits) == 0 {
		return c.Resources.Requests
	}
	return mergeResources(c.Resources.Requests, c.Resources.Limits)
}

// mergeResources merges two lists. If a resource is in both, the amount in a wins.
func mergeResources(a, b corev1.ResourceList) corev1.ResourceList {
	all := make(corev1.ResourceList, len(a)+len(b))
	maps.Copy(all, b)
	maps.Copy(all, a)
	return all
}

// Pod returns a pod with the fields of a spec that determine its requests.
func (s *PodSpec) Pod() *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Overhead: s.Overhead}}
	pod.Spec.Containers, pod.Spec.InitContainers = containers(s.Containers), containers(s.InitContainers)
	if r := s.Resources; r != nil {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: podLevel(pod, r), Limits: r.Limits}
	}
	return pod
}

// containers converts containers to the API type.
func containers(in []Container) []corev1.Container {
	out := make([]corev1.Container, len(in))
	for i := range in {
		c := &in[i]
		out[i] = corev1.Container{Name: c.Name, Resources: corev1.ResourceRequirements{Requests: c.Requested(), Limits: c.Resources.Limits}}
		if c.RestartPolicy != "" {
			policy := corev1.ContainerRestartPolicy(c.RestartPolicy)
			out[i].RestartPolicy = &policy
		}
	}
	return out
}

// podLevel returns the pod-level requests. If a resource has only a limit, podLevel uses the sum of
// the containers' requests. If no container requests the resource, it uses the limit (R-N25).
func podLevel(pod *corev1.Pod, r *Resources) corev1.ResourceList {
	requests := corev1.ResourceList{}
	sum := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	for name, limit := range r.Limits {
		requests[name] = limit
		if q, ok := sum[name]; ok {
			requests[name] = q
		}
	}
	maps.Copy(requests, r.Requests)
	return requests
}
