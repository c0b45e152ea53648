# METADATA
# title: A PodDisruptionBudget that allows no disruptions
# description: >-
#   A drain evicts pods through the eviction API, which refuses while the PodDisruptionBudget allows no
#   disruption. A budget that requires all pods to be healthy never allows one, and the API refuses every
#   eviction of a pod that more than one budget selects. Node upgrades then hang or are forced, which the
#   budget was meant to prevent. Safest first: run one more replica; set maxUnavailable: 1 instead of
#   minAvailable; keep one budget per pod; remove the budget of a workload that tolerates brief downtime.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
#   - https://github.com/kubernetes/kubernetes/issues/66811
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["drain-blocked"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.budgets
	lines := [what(fact), effect[fact.problem]]
}

what(fact) := sprintf("%s allows no disruptions of %s%s", [
	fact.budget, text.few(fact.selects), text.aside(fact.limit),
]) if fact.problem == "no-eviction"

what(fact) := sprintf("%s selects pods of %s that %s also %s", [
	fact.budget, text.few(fact.selects), text.few(fact.others), text.verb(count(fact.others), "selects", "select"),
]) if fact.problem == "several"

effect := {
	"no-eviction": "draining a node that runs one of these pods never completes",
	"several": "the API server refuses to evict a pod that more than one PodDisruptionBudget selects",
}
