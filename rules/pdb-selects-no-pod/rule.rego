# METADATA
# title: A PodDisruptionBudget that selects no pods
# description: >-
#   A PodDisruptionBudget protects the pods in its namespace that its selector matches, and this one matches
#   no declared pods, so a drain can evict all pods of the workload at once. Often a label was renamed, or
#   the budget is in another namespace. Make the selector match the labels of the pod template, or remove
#   the budget.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["pdb-selects-no-pod"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "pdb-selects-no-pod") if {
	some row in input.budgets
	row.problem == "idle"
}
