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
import data.schedlint.text

report contains result.finding(rego.metadata.chain(), budget, {"message": message, "help": "select the pods of one workload"}) if {
	some budget in input.budgets
	count(budget.selects) > 1
	refs := [input.workloads[w].ref | some w in budget.selects]
	message := sprintf("%s selects the pods of %d workloads: %s", [budget.object, count(refs), text.few(refs)])
}
