# METADATA
# title: A disruption budget that selects no pod
# description: >-
#   A PodDisruptionBudget guards the pods of its own namespace that its selector matches, and this one
#   matches none that is declared: a drain evicts all pods of the workload that it was written for at once.
#   Often a label was renamed, or the budget stands in another namespace. Make the selector match the labels
#   of the pod template, or remove the budget.
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
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.budgets
	fact.problem == "idle"
	lines := text.lines(fact.budget, [sprintf("its %s, so it guards nothing", [what(fact)])])
}

what(fact) := "empty selector matches no pod" if fact.selector == ""

what(fact) := sprintf("selector %s matches no declared pod of its namespace", [fact.selector]) if fact.selector != ""
