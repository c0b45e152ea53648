# METADATA
# title: Whether all pods fit depends on the scheduling order
# description: >-
#   Some scheduling orders place all pods. In the one shown, other pods take the nodes that these pods need,
#   and the scheduler does not move pods afterwards. Keep the other pods off those nodes with a taint or
#   node selector, run fewer of them, add nodes, or make the rule preferred.
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

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.orders
	lines := text.lines(fact.workload, [
		sprintf("%s cannot be scheduled if the scheduler places %s first", [left(fact), placed(fact)]),
		sprintf("blocked by %s", [fact.reason]), "all pods fit in another order",
	])
}

left(fact) := "its pod" if fact.pods == 1

left(fact) := sprintf("%d of its %d pods", [fact.pending, fact.pods]) if fact.pods != 1

placed(fact) := concat(" and ", fact.placed) if count(fact.placed) < 4

placed(fact) := sprintf("%s and those of %d more workloads", [concat(", ", array.slice(fact.placed, 0, 3)), count(fact.placed) - 3]) if {
	count(fact.placed) > 3
}
