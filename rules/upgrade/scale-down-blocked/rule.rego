# METADATA
# title: An annotation keeps an autoscaler from removing nodes
# description: >-
#   The node that runs such a pod is neither removed when it is empty enough nor replaced: the cluster
#   autoscaler skips it because of cluster-autoscaler.kubernetes.io/safe-to-evict: "false", and Karpenter
#   because of karpenter.sh/do-not-disrupt: "true". Nodes then cost money for one pod each, and upgrades
#   that replace nodes wait. Remove the annotation and protect the pods by a PodDisruptionBudget. Pods
#   without a controller have the same effect and are left to pod-without-controller. DaemonSets and pods
#   that run to completion are left out, and a value with a variable is not judged.
# related_resources:
#   - https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md#what-types-of-pods-can-prevent-ca-from-removing-a-node
#   - https://karpenter.sh/docs/concepts/disruption/#pod-level-controls
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [upgrade]
#   params:
#     type: object
#     properties:
#       annotations:
#         description: annotations of pods, as key=value, that keep nodes from being removed
#         type: array
#         items: {type: string}
#         default: ["cluster-autoscaler.kubernetes.io/safe-to-evict=false", "karpenter.sh/do-not-disrupt=true"]
package schedlint.rules["upgrade.scale-down-blocked"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "scale-down-blocked", "values": values, "path": path}) if {
	some workload in input.workloads
	workload.permanent
	not workload.bare
	keeping := [annotation |
		some annotation in input.params.annotations
		[key, value] := split(annotation, "=")
		workload.pod_annotations[key] == value
	]
	path := ["spec", "template", "metadata", "annotations", split(keeping[0], "=")[0]]
	values := {"workload": workload.ref, "annotations": keeping}
}
