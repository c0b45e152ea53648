# METADATA
# title: No node passes the filters of the pods
# description: >-
#   Taints, node selectors and required node affinity together exclude every declared node, so no pod of the
#   workload is ever placed. The message says which filter excludes how many nodes. Add the missing toleration
#   or node label, or correct the selector. With nodeName no scheduler is asked: a pod for a node that does not
#   exist is deleted, and a kubelet rejects a pod that its node does not suit.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.eligibility
	fact.verdict == "never"
	head := sprintf("no eligible node among %d", [fact.nodes])
	message := text.line(fact.workload, array.flatten([head, fact.reasons, fate(fact)]))
}

fate(fact) := text.pending(fact.pods) if fact.bound == ""

fate(fact) := sprintf("%s %s never scheduled: the pod garbage collector deletes %s", [
	text.number(fact.pods, "pod"), text.verb(fact.pods, "is", "are"), text.verb(fact.pods, "it", "them"),
]) if {
	fact.bound == "undeclared"
}

fate(fact) := sprintf("the kubelet rejects %s", [text.number(fact.pods, "pod")]) if fact.bound == "declared"
