# METADATA
# title: A PodDisruptionBudget that selects several workloads
# description: >-
#   A PodDisruptionBudget that selects the pods of several workloads counts them together: drains may take
#   all pods of one workload while those of the others are healthy, and one unhealthy workload blocks the
#   drains of all. Use one budget for each workload. A budget that selects no pods is left to
#   pdb-selects-no-pod.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [upgrade]
package schedlint.rules["upgrade.budget-selects-several"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), budget, {"reason": "budget-selects-several", "values": values}) if {
	some budget in input.budgets
	count(budget.selects) > 1
	refs := [input.workloads[w].ref | some w in budget.selects]
	values := {"budget": budget.object, "workloads": refs}
}
