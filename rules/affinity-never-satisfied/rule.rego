# METADATA
# title: Required pod affinity that no pod can satisfy
# description: >-
#   Required pod affinity schedules a pod only next to pods that match every term, on a node that has every
#   topology key. Without a labelSelector, with contradicting terms, or with a key that no eligible node
#   has, no such node exists and every pod stays Pending. Correct the key or the selector.
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

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.affinity
	fact.verdict == "never"
	lines := text.lines(fact.workload, [why(fact), "every pod stays Pending", text.meant(fact.suggestion)])
}

why(fact) := sprintf("%s the label %s, which the required affinity needs", [
	text.none_has(fact.usable), fact.key,
]) if fact.cause == "missing-key"

why(fact) := sprintf("the required affinity on %s has no labelSelector, so it matches no pods", [fact.key]) if {
	fact.cause == "null-selector"
}

why(fact) := sprintf("no pod can match all required affinity terms: %s", [fact.detail]) if {
	fact.cause == "contradiction"
}
