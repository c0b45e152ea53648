# METADATA
# title: A workload has no PodDisruptionBudget
# description: >-
#   Without a PodDisruptionBudget a drain may evict all pods of the workload at once. Add one that selects
#   its pods and allows at least one disruption. A workload that a budget may select is not judged: the
#   selector or the labels of the pods have a variable, a namespace is left open, or the budget is in files
#   that need not be deployed together with the workload.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   params:
#     type: object
#     properties:
#       min_pods:
#         description: number of pods from which a workload needs a budget
#         type: integer
#         minimum: 1
#         default: 2
package schedlint.rules["require-budget"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "no-disruption-budget", "values": values}) if {
	some workload in input.workloads
	workload.known
	workload.permanent
	workload.pods_min >= input.params.min_pods
	count(workload.budgets) == 0
	values := {"workload": workload.ref, "pods": workload.pods_min}
}
