# METADATA
# title: A workload of one pod is down while its node is drained
# description: >-
#   A drain evicts the only pod of the workload, which is down until its successor runs on another node, once
#   for each node that an upgrade replaces under it. Run two pods, or list the labels of those workloads
#   that must not be down. Budgets that refuse the eviction are left to drain-blocked, pods without a
#   controller to upgrade.pod-without-controller, and machines to the pack kubevirt.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: note
#   since: v0.1.0
#   tags: [upgrade]
#   params:
#     type: object
#     properties:
#       labels:
#         description: labels as key=value; a workload counts if it or its pods carry one of them, and every one if there are none
#         type: array
#         items: {type: string}
#         default: []
package schedlint.rules["upgrade.single-pod"]

import data.schedlint.labels
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "single-pod", "values": values}) if {
	some workload in input.workloads
	workload.known
	workload.permanent
	workload.pods_min == 1
	not workload.bare
	not workload.machine.is
	every budget in workload.budgets { budget.allowed_min > 0 }
	labels.counts(workload, input.params.labels)
	values := {"workload": workload.ref}
}
