# METADATA
# title: The loss of one node leaves pods Pending
# description: >-
#   When the node is lost, the remaining nodes cannot take all of its pods, so the workload runs short until
#   the node is back or replaced. An unreachable node that still has its Node object is worse than a deleted
#   one: it counts as a domain, and its pods stay Terminating. Safest first: add a spare node; set
#   nodeTaintsPolicy: Honor if an unreachable node blocks a topologySpreadConstraint; raise maxSkew; run
#   fewer replicas; make the rule preferred. If fewer pods are enough for a while, turn the rule off for the
#   workload.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["node-loss-leaves-pods-pending"]

import data.schedlint.result
import data.schedlint.typical

report contains result.worded(rego.metadata.chain(), row, typical.lowered(row, {"reason": "node-loss-leaves-pods-pending"})) if {
	some row in input.losses
	row.required
	row.key == "kubernetes.io/hostname"
	row.outcome in {"sometimes", "never"}
}
