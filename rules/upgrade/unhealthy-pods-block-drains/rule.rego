# METADATA
# title: Unhealthy pods of a PodDisruptionBudget block drains
# description: >-
#   If more pods crash or are not ready than the budget allows to be missing, the default policy
#   IfHealthyBudget refuses to evict them (pkg/registry/core/pod/storage/eviction.go): the drain of their
#   node waits until someone repairs the application. With unhealthyPodEvictionPolicy: AlwaysAllow pods that
#   are not ready can always be evicted, and healthy ones stay protected. Keep the default where a pod that
#   is not ready still holds data that must not be lost, and list the labels of the others. Budgets with
#   another fault are left to drain-blocked, pdb-selects-no-pod, ha.budget-allows-all and upgrade.budget-
#   selects-several.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: note
#   since: v0.1.0
#   tags: [upgrade]
#   params:
#     type: object
#     properties:
#       labels:
#         description: labels as key=value; a budget counts if a workload that it selects, or its pods, carry one of them, and every one if there are none
#         type: array
#         items: {type: string}
#         default: []
package schedlint.rules["upgrade.unhealthy-pods-block-drains"]

import data.schedlint.labels
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), budget, {"reason": "unhealthy-pods-block-drains", "values": values}) if {
	some budget in input.budgets
	budget.unhealthy_policy == "IfHealthyBudget"
	budget.problem == "none"
	budget.allowed_min < budget.amount.of
	count(budget.selects) == 1
	labels.counts(input.workloads[budget.w], input.params.labels)
	values := {"budget": budget.object}
}
