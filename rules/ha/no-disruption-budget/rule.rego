# METADATA
# title: A workload without a PodDisruptionBudget
# description: >-
#   Node drains and upgrades may evict all pods of the workload at once, as no PodDisruptionBudget selects
#   them. Add one that allows one disruption at a time. Machines of KubeVirt are left out, which makes
#   budgets for them itself, and so are workloads that a budget may select.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [ha]
#   params:
#     type: object
#     properties:
#       min_pods:
#         description: number of pods from which a workload counts
#         type: integer
#         minimum: 1
#         default: 2
package schedlint.rules["ha.no-disruption-budget"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "no-disruption-budget", "values": values}) if {
	some workload in input.workloads
	workload.known
	workload.permanent
	workload.pods_min >= input.params.min_pods
	not workload.machine.is
	count(workload.budgets) == 0
	values := {"workload": workload.ref, "pods": workload.pods_min}
}
