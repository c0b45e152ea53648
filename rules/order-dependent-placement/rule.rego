# METADATA
# title: Whether all pods fit depends on who comes first
# description: >-
#   Some runs of the scheduler place all pods, but after the one that the finding tells of, pods fit nowhere:
#   others, or pods of the same workload, were placed first on nodes that these need. Nothing moves by itself
#   afterwards. Keep the others off those nodes (a taint, a node selector), lower their number, add nodes, or
#   make the rule preferred.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["order-dependent-placement"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.orders
	message := sprintf("%s: with %s first, %s nowhere (%s); in another order all fit", [
		fact.workload, placed(fact), left(fact), fact.reason,
	])
}

left(fact) := "its pod fits" if fact.pods == 1

left(fact) := sprintf("%d of its %d pods %s", [fact.pending, fact.pods, text.verb(fact.pending, "fits", "fit")]) if fact.pods != 1

placed(fact) := concat(" and ", fact.placed) if count(fact.placed) < 4

placed(fact) := sprintf("%s and those of %d more workloads", [concat(", ", array.slice(fact.placed, 0, 3)), count(fact.placed) - 3]) if {
	count(fact.placed) > 3
}
