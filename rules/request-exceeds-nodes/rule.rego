# METADATA
# title: A pod requests more than any node has
# description: >-
#   One pod requests more of a resource than the largest eligible node has, even when that node is empty, so
#   no pod of the workload is scheduled. Preemption and more nodes of the same size do not help. Lower the
#   request, or add larger nodes.
# related_resources:
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["request-exceeds-nodes"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.requests
	fact.outcome == "never"
	ask := sprintf("each pod requests %s, but %s", [text.amount(fact), offer(fact)])
	lines := text.lines(fact.workload, [ask, more(fact)])
}

offer(fact) := sprintf("%s that much", [text.none_has(fact.eligible)]) if not fact.per_node

offer(fact) := sprintf("%s less", [text.some_have(fact.eligible - fact.fitting, fact.eligible)]) if fact.per_node

more(fact) := text.pending(fact.eligible - fact.fitting) if fact.per_node

more(fact) := largest(fact) if not fact.per_node

largest(fact) := "" if fact.largest_node == ""

largest(fact) := sprintf("the largest, %s, has %s", [fact.largest_node, fact.largest]) if {
	fact.largest_node != ""
	not text.several(fact)
}

largest(fact) := "each node has too little of at least one of them" if text.several(fact)
