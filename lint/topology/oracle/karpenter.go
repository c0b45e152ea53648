package main

import (
	"context"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	provisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/yaml"
)

// registerAWS adds what the provider for AWS adds (aws/karpenter-provider-aws pkg/apis/v1/labels.go).
func registerAWS() {
	karpenterv1.WellKnownLabels.Insert(
		"karpenter.k8s.aws/instance-generation", "karpenter.k8s.aws/instance-category", "topology.k8s.aws/zone-id",
	)
	karpenterv1.RestrictedLabelDomains.Insert("karpenter.k8s.aws")
	karpenterv1.NormalizedLabels["topology.ebs.csi.aws.com/zone"] = corev1.LabelTopologyZone
}

// Answers of either side.
const (
	eligible = "eligible"
	never    = "never"
	inVain   = "in vain" // Karpenter makes a node that the kube-scheduler does not use
	refused  = "refused"
	unknown  = "unknown"
)

// theirs answers as Karpenter does.
func theirs(poolText, podsText string) (string, error) {
	var pool karpenterv1.NodePool
	var pods appsv1.Deployment
	if err := yaml.UnmarshalStrict([]byte(poolText), &pool); err != nil {
		return "", err
	}
	if err := yaml.UnmarshalStrict([]byte(podsText), &pods); err != nil {
		return "", err
	}
	if err := pool.RuntimeValidate(context.Background()); err != nil {
		return refused, nil
	}
	template := provisioning.NewNodeClaimTemplate(&pool)
	for key := range pool.Spec.Template.Labels {
		if template.Requirements.Get(key).Operator() == corev1.NodeSelectorOpDoesNotExist {
			return refused, nil // not by Karpenter, which makes nodes with a label that its requirements exclude
		}
	}
	spec := pods.Spec.Template.Spec
	// What Karpenter tries last (pkg/controllers/provisioning/scheduling/preferences.go).
	spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectPreferNoSchedule})
	if scheduling.Taints(template.Spec.Taints).ToleratesPod(&corev1.Pod{Spec: spec}) != nil || impossible(template.Requirements) {
		return never, nil
	}
	answer := never
	for _, pod := range oneTermEach(spec) {
		// As in NewNodeClaim and CanAdd (pkg/controllers/provisioning/scheduling/nodeclaim.go).
		all := scheduling.NewRequirements(template.Requirements.Values()...)
		all.Add(scheduling.NewRequirement(corev1.LabelHostname, corev1.NodeSelectorOpIn, "placeholder"))
		if all.Compatible(scheduling.NewStrictPodRequirements(pod), scheduling.AllowUndefinedWellKnownLabels) != nil {
			continue
		}
		all.Add(scheduling.NewStrictPodRequirements(pod).Values()...)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "placeholder", Labels: labelsOf(template, all)}}
		if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err == nil && fits && !impossible(all) {
			return eligible, nil
		}
		answer = inVain
	}
	return answer, nil
}

// impossible reports whether requirements exclude a label that each instance type has.
func impossible(rs scheduling.Requirements) bool {
	return slices.ContainsFunc([]string{
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelInstanceTypeStable, corev1.LabelArchStable, corev1.LabelOSStable, karpenterv1.CapacityTypeLabelKey,
	}, func(key string) bool { return rs.Get(key).Operator() == corev1.NodeSelectorOpDoesNotExist })
}

// oneTermEach returns pods with each of the terms alone, in which Karpenter tries them.
func oneTermEach(spec corev1.PodSpec) []*corev1.Pod {
	if spec.Affinity == nil {
		return []*corev1.Pod{{Spec: spec}}
	}
	var pods []*corev1.Pod
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		pod := &corev1.Pod{Spec: *spec.DeepCopy()}
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = []corev1.NodeSelectorTerm{term}
		pods = append(pods, pod)
	}
	return pods
}

// labelsOf returns the labels of a node that meets the requirements: those of its NodeClaim, and
// what a cloud sets.
func labelsOf(template *provisioning.NodeClaimTemplate, all scheduling.Requirements) map[string]string {
	claim := *template
	claim.Requirements = scheduling.NewRequirements(all.Values()...)
	claim.Labels = maps.Clone(template.Labels)
	labels := claim.ToNodeClaim().Labels
	labels[corev1.LabelHostname] = "placeholder"
	labels[karpenterv1.NodeRegisteredLabelKey], labels[karpenterv1.NodeInitializedLabelKey] = "true", "true"
	for key := range karpenterv1.WellKnownLabels {
		if r := all.Get(key); r.Operator() != corev1.NodeSelectorOpDoesNotExist {
			labels[key] = r.Any()
		}
	}
	for old, key := range karpenterv1.NormalizedLabels { // cloud controllers and drivers set them all
		if value, has := labels[key]; has {
			labels[old] = value
		}
	}
	return labels
}
