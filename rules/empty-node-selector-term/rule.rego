# METADATA
# title: An empty nodeSelectorTerm matches no nodes
# description: >-
#   A term without matchExpressions and matchFields looks as if it matches every node, but the scheduler
#   ignores it: it matches none. Next to other terms it has no effect; alone in a required node affinity it
#   excludes every node. Remove the term, or add the missing expressions.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["empty-node-selector-term"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.node_terms
	fact.empty
	message := sprintf("%s: %s", [fact.workload, effect(fact)])
}

effect(fact) := "the empty preferred node affinity term favors no nodes" if not fact.hard

effect(fact) := sprintf("the empty nodeSelectorTerm matches no nodes, so only the other %s", [
	text.verb(fact.others, "term counts", sprintf("%d terms count", [fact.others])),
]) if {
	fact.hard
	fact.others > 0
}

effect(fact) := "the empty nodeSelectorTerm matches no nodes, so no node satisfies the required node affinity" if {
	fact.hard
	fact.others == 0
}
