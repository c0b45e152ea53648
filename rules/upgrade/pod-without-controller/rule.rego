# METADATA
# title: A pod that no controller creates again
# description: >-
#   kubectl drain refuses to evict a pod without a controller, and with --force the pod is gone for good,
#   so an upgrade of its node either stops or loses the pod. The cluster autoscaler does not remove the node
#   either, unless the pod has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "true". Run it
#   as a Deployment or a StatefulSet. Pods that end by themselves, and those with an owner, are left out.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
#   - https://kubernetes.io/docs/concepts/workloads/controllers/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [upgrade]
package schedlint.rules["upgrade.pod-without-controller"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "pod-without-controller", "values": values}) if {
	some workload in input.workloads
	workload.kind == "Pod"
	workload.bare
	workload.permanent
	values := {"workload": workload.ref}
}
