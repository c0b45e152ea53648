# METADATA
# title: The pods of a drained node find no other node
# description: >-
#   When nodes are drained one at a time, the other nodes cannot take all pods of the drained one, always or
#   in some runs. The workload runs short until the node is back, and a PodDisruptionBudget then refuses the
#   next drain, so that an upgrade of the pool does not complete. Add a spare node, or relax the rule that
#   keeps the pods off the others.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
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
package schedlint.rules["upgrade.drain-leaves-pods-pending"]

import data.schedlint.outcome
import data.schedlint.result

report contains result.finding(rego.metadata.chain(), row, said) if {
	some row in input.drains
	row.blocked_by == ""
	ref := input.workloads[row.w].ref
	next := {true: ", and its budget then refuses the next drain", false: ""}[row.blocks]
	messages := {
		"never": sprintf("%s: draining %s leaves %d of %d pods Pending%s", [ref, row.node, row.pending_max, row.pods, next]),
		"sometimes": sprintf("%s: draining %s can leave %d of %d pods Pending%s", [ref, row.node, row.pending_max, row.pods, next]),
		"unknown": sprintf("%s: unknown whether its pods find another node in a drain", [ref]),
	}
	help := "add a spare node, or relax the rule that keeps the pods off the others"
	said := outcome.said(row.outcome, input.params.report_unknown, messages, help)
}
