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
import data.schedlint.text

report contains result.finding(rego.metadata.chain(), budget, {"message": message, "help": "set maxUnavailable: 1 instead"}) if {
	some workload in input.workloads
	workload.pods_min >= input.params.min_pods
	some budget in workload.budgets
	budget.amount.of > 0
	budget.allowed_min >= budget.amount.of
	amount := text.aside(trim_space(sprintf("%s %s", [budget.amount.field, budget.amount.value])))
	size := {true: " at its smallest size", false: ""}[count(object.get(workload, "scalers", [])) > 0]
	message := sprintf("%s allows the eviction of all %d pods of %s%s", [budget.ref, budget.amount.of, workload.ref, sprintf("%s%s", [size, amount])])
}
