# METADATA
# title: Required pod affinity that no pod can satisfy
# description: >-
#   Required pod affinity places a pod only beside pods that match all terms, on a node that carries all
#   topology keys. Without a selector, with terms that contradict each other, or with a key that no usable
#   node carries, there is no such place and every pod stays Pending. Correct the key or the selector.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["affinity-never-satisfied"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.affinity
	fact.verdict == "never"
	message := text.line(fact.workload, [why(fact), "every pod stays Pending", text.meant(fact.suggestion)])
}

why(fact) := sprintf("%s the label %s, which the required affinity demands", [
	text.none_has(fact.usable), fact.key,
]) if fact.cause == "missing-key"

why(fact) := sprintf("the required affinity on %s has no labelSelector, so it matches no pod", [fact.key]) if {
	fact.cause == "null-selector"
}

why(fact) := sprintf("no pod can match all terms of the required affinity: %s", [fact.detail]) if {
	fact.cause == "contradiction"
}
