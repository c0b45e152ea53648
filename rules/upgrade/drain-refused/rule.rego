# METADATA
# title: A drain is refused
# description: >-
#   A drain evicts the pods of a node, and these evictions are refused: the PodDisruptionBudgets allow no
#   disruption, more than one of them selects a pod, or a machine cannot migrate. An upgrade of the pool
#   hangs at this node, until it is forced. Allow a disruption, or run one more pod. A single pod with one
#   budget is left to single-pod-with-budget.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [upgrade]
#   params:
#     type: object
#     properties:
#       report_unknown:
#         description: report as a note where the answer is unknown
#         type: boolean
#         default: false
package schedlint.rules["upgrade.drain-refused"]

import data.schedlint.outcome
import data.schedlint.result

report contains result.finding(rego.metadata.chain(), row, said) if {
	some row in input.drains
	reason := reasons[row.blocked_by]
	workload := input.workloads[row.w]
	[row.blocked_by, row.pods, count(workload.budgets)] != ["budget", 1, 1]
	message := sprintf("%s: a drain cannot evict its pods (%d): %s", [workload.ref, row.pods, reason])
	messages := {"never": message, "sometimes": message, "unknown": sprintf("%s (possibly)", [message])}
	help := "allow a disruption, or run one more pod"
	said := outcome.said(row.outcome, input.params.report_unknown, messages, help)
}

reasons := {
	"budget": "the PodDisruptionBudgets that select them refuse",
	"eviction-strategy": "they have to migrate first and cannot",
}
