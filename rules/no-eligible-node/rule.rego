# METADATA
# title: No node is eligible for the pods
# description: >-
#   Taints, node selectors and required node affinity exclude every declared node, so no pod of the workload
#   is scheduled. The finding says how many nodes each filter excludes. Add the missing toleration or node
#   label, or correct the selector. A nodeName bypasses the scheduler: a pod for a node that does not exist
#   is deleted, and the kubelet rejects a pod that does not match its node.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["no-eligible-node"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.eligibility
	fact.outcome == "never"
	lines := text.lines(fact.workload, array.flatten([head(fact.nodes), fact.reasons, fate(fact)]))
}

head(1) := "the only node is not eligible"

head(n) := sprintf("none of the %d nodes is eligible", [n]) if n != 1

fate(fact) := text.pending(fact.pods) if fact.bound == ""

fate(fact) := sprintf("the pod garbage collector deletes %s because the node does not exist", [text.number(fact.pods, "pod")]) if {
	fact.bound == "undeclared"
}

fate(fact) := sprintf("the kubelet rejects %s", [text.number(fact.pods, "pod")]) if fact.bound == "declared"
