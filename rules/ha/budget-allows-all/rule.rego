# METADATA
# title: A PodDisruptionBudget that allows the eviction of all pods
# description: >-
#   A PodDisruptionBudget that allows the eviction of all pods at once protects nothing. Keep some of the
#   pods, as maxUnavailable: 1 does for two or more. A budget that allows no disruptions is left to
#   drain-blocked.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
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
package schedlint.rules["ha.budget-allows-all"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), budget, {"reason": "budget-allows-all", "values": values}) if {
	some workload in input.workloads
	workload.pods_min >= input.params.min_pods
	some budget in workload.budgets
	budget.amount.of > 0
	budget.allowed_min >= budget.amount.of
	values := {
		"budget": budget.ref, "pods": budget.amount.of, "workload": workload.ref, "field": budget.amount.field, "value": budget.amount.value,
		"scaled": count(object.get(workload, "scalers", [])) > 0,
	}
}
