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
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.losses
	fact.key == "kubernetes.io/hostname"
	fact.outcome in {"sometimes", "never"}
	node := sprintf("losing node %s%s", [fact.value, text.like(fact.like, "node")])
	message := sprintf("%s: %s %s%s", [fact.workload, node, text.left(fact), object.get(when, fact.meaning, "")])
}

when := {
	"gone": " if its Node object is deleted",
	"unreachable": " while it is unreachable (its pods stay Terminating)",
}
