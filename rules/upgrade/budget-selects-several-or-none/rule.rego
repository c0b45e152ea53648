# METADATA
# title: A PodDisruptionBudget that selects no workload, or several
# description: >-
#   A PodDisruptionBudget that selects no pods protects nothing during an upgrade. One that selects the pods
#   of several workloads counts them together: drains may take all pods of one workload while those of the
#   others are healthy, and one unhealthy workload blocks the drains of all. Use one budget for each
#   workload.
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
package schedlint.rules["upgrade.budget-selects-several-or-none"]

import data.schedlint.result
import data.schedlint.text

report contains result.finding(rego.metadata.chain(), budget, {"message": message, "help": "select the pods of one workload"}) if {
	some budget in input.budgets
	message := sprintf("%s %s", [budget.object, problem(budget)])
}

problem(budget) := sprintf("selects no pods (%s)", [budget.selector]) if budget.problem == "idle"

problem(budget) := sprintf("selects the pods of %d workloads: %s", [count(budget.selects), text.few(refs)]) if {
	count(budget.selects) > 1
	refs := [input.workloads[w].ref | some w in budget.selects]
}
