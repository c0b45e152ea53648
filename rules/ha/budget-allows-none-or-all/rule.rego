# METADATA
# title: A PodDisruptionBudget that allows no disruptions, or that of all pods
# description: >-
#   A PodDisruptionBudget that allows no disruptions blocks every drain until somebody deletes the pods or
#   the budget. One that allows the eviction of all pods at once protects nothing. Allow some disruptions
#   and not all, as maxUnavailable: 1 does for two or more pods.
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
package schedlint.rules["ha.budget-allows-none-or-all"]

import data.schedlint.result
import data.schedlint.text

report contains result.finding(rego.metadata.chain(), budget, {"message": message, "help": "set maxUnavailable: 1 instead"}) if {
	some workload in input.workloads
	workload.pods_min >= input.params.min_pods
	some budget in workload.budgets
	amount := text.aside(trim_space(sprintf("%s %s", [budget.amount.field, budget.amount.value])))
	message := sprintf("%s %s of %s%s", [budget.ref, problem(budget), workload.ref, amount])
}

problem(budget) := "allows no disruptions" if budget.allowed_max == 0

problem(budget) := sprintf("allows the eviction of all %d pods", [budget.amount.of]) if {
	budget.allowed_min > 0
	budget.allowed_min >= budget.amount.of
}
