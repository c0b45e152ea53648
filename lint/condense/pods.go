package condense

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelpers "k8s.io/component-helpers/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// reserve adds up what pods request of each node, by name. Pods of the workloads do not count, nor
// do those that have finished or have no node (pkg/scheduler/framework/types.go, AddPod; R-S20).
func (c *Cluster) reserve(pods []*source.Object, of []diag.Object) {
	nodes, known := map[string]bool{}, map[diag.Object]bool{}
	for _, n := range c.from.Nodes {
		nodes[n.Name] = n.Pool == nil
	}
	for _, w := range of {
		known[diag.Object{Kind: w.Kind, Namespace: workload.Space(w.Namespace), Name: w.Name}] = true
	}
	for _, o := range pods {
		var pod corev1.Pod
		text, err := json.Marshal(o.Root.Decoded((*source.Node).Plain))
		if err == nil {
			err = json.Unmarshal(text, &pod)
		}
		finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if err != nil || finished || !nodes[pod.Spec.NodeName] || slices.ContainsFunc(makers(&pod), func(m diag.Object) bool { return known[m] }) {
			c.left[o.Kind]++
			continue
		}
		c.counted++
		sum := c.reserved[pod.Spec.NodeName]
		if sum == nil {
			sum = corev1.ResourceList{}
			c.reserved[pod.Spec.NodeName] = sum
		}
		requests := resourcehelpers.PodRequests(&pod, resourcehelpers.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true})
		requests[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
		for name, q := range requests {
			all := sum[name].DeepCopy()
			all.Add(q)
			sum[name] = all
		}
	}
}

// makers returns the workloads that may have made a pod: its controller, and the workload that names
// its controllers in the way of that one.
func makers(pod *corev1.Pod) []diag.Object {
	owner, space := metav1.GetControllerOf(pod), workload.Space(pod.Namespace)
	if owner == nil {
		return []diag.Object{{Kind: "Pod", Namespace: space, Name: pod.Name}}
	}
	all := []diag.Object{{Kind: owner.Kind, Namespace: space, Name: owner.Name}}
	i := max(strings.LastIndexByte(owner.Name, '-'), 0)
	base, suffix := owner.Name[:i], strings.TrimPrefix(owner.Name[i:], "-")
	number := suffix != "" && strings.Trim(suffix, "0123456789") == ""
	switch {
	case owner.Kind == "ReplicaSet" && suffix == pod.Labels["pod-template-hash"]: // deployment/sync.go, getNewReplicaSet
		all = append(all, diag.Object{Kind: "Deployment", Namespace: space, Name: base})
	case owner.Kind == "ReplicaSet" && suffix == pod.Labels["rollouts-pod-template-hash"]:
		all = append(all, diag.Object{Kind: "Rollout", Namespace: space, Name: base})
	case owner.Kind == "Job" && number: // cronjob/utils.go, getJobName
		all = append(all, diag.Object{Kind: "CronJob", Namespace: space, Name: base})
	}
	return all
}

// most sets what a pool reserves, and says where its nodes differ in that.
func (c *Cluster) most(p *topology.PoolSpec, nodes []*topology.Node) (comments []string) {
	for _, name := range sorting.Keys(p.Allocatable) {
		low, high := bounds(nodes, func(n *topology.Node) resource.Quantity { return c.reserved[n.Name][name] })
		if high.Sign() <= 0 {
			continue
		}
		if p.Reserved == nil {
			p.Reserved = corev1.ResourceList{}
		}
		if p.Reserved[name] = high; low.Cmp(high) < 0 {
			comments = append(comments, fmt.Sprintf("reserved %s: the most of its nodes, the least is %s", name, low.String()))
		}
	}
	return comments
}

// bounds returns the least and the greatest amount that nodes have.
func bounds(nodes []*topology.Node, of func(*topology.Node) resource.Quantity) (low, high resource.Quantity) {
	low = of(nodes[0])
	high = low
	for _, n := range nodes {
		if q := of(n); q.Cmp(low) < 0 {
			low = q
		} else if q.Cmp(high) > 0 {
			high = q
		}
	}
	return low, high
}
