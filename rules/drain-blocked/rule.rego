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

report contains result.reason(rego.metadata.chain(), row, reason) if {
	some row in input.budgets
	reason := reasons[row.problem]
}

reasons := {
	"no-eviction": "budget-allows-nothing",
	"no-eviction-while-small": "budget-allows-nothing",
	"several": "several-budgets",
}
