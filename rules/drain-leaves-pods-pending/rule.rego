# METADATA
# title: A drained node leaves pods Pending
# description: >-
#   When a node is drained its pods have to be placed on the others, and the rules leave no room for all of
#   them there, so the workload runs short until the node is back. With a disruption budget the drain of the
#   next node is then refused, so an upgrade that takes the nodes one by one for good never ends. In the
#   order of safety: add a node, so one is spare; run fewer replicas; use a topology spread constraint
#   instead of required anti-affinity; let the budget allow one more disruption.
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
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.drains
	fact.ending in {"sometimes", "never"}
	node := sprintf("draining %s%s", [fact.node, text.like(fact.like, "node")])
	message := text.line(fact.workload, [sprintf("%s %s until it is back", [node, text.left(fact)]), next(fact)])
}

next(fact) := "" if fact.limit == ""

next(fact) := sprintf("%s, so the next drain is refused", [fact.limit]) if fact.limit != ""
