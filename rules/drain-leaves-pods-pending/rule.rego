# METADATA
# title: A node drain leaves pods Pending
# description: >-
#   When the node is drained, the other nodes cannot take all of its pods, so the workload runs short until
#   the node is back. With a PodDisruptionBudget the drain of the next node is then refused, so a rolling
#   node replacement never completes. Safest first: add a spare node; run fewer replicas; use a
#   topologySpreadConstraint instead of required anti-affinity; allow one more disruption in the budget.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://github.com/kubernetes/kubernetes/issues/91141
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["drain-leaves-pods-pending"]

import data.schedlint.result
import data.schedlint.typical

report contains result.worded(rego.metadata.chain(), row, typical.lowered(row, {"reason": "drain-leaves-pods-pending"})) if {
	some row in input.drains
	row.outcome in {"sometimes", "never"}
	row.blocked_by == ""
	row.waits == ""
}
