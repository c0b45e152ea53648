# METADATA
# title: The loss of one node leaves pods Pending
# description: >-
#   When the node is lost, its pods cannot all be placed on those that remain, so the workload runs short
#   until the node is back or replaced, however long that takes. A node that is unreachable and still has
#   its Node object is worse than one that is deleted: it counts as a domain and its pods stay Terminating
#   there. In the order of safety: add a node, so one is spare; set nodeTaintsPolicy: Honor where an
#   unreachable node holds a spread constraint back; raise maxSkew; run fewer replicas; make the rule
#   preferred. Where fewer pods are enough for a while, turn the rule off for the workload.
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
	fact.ending in {"sometimes", "never"}
	node := sprintf("losing %s%s", [fact.value, text.like(fact.like, "node")])
	message := text.line(fact.workload, [sprintf("%s %s%s", [node, text.left(fact), object.get(when, fact.meaning, "")])])
}

when := {
	"gone": " if its Node object is deleted",
	"ghost": " while it is unreachable: its pods stay Terminating",
}
