# METADATA
# title: An empty node selector term matches no node
# description: >-
#   A term without matchExpressions and matchFields looks like one that matches every node, but the scheduler
#   drops it: it matches none. Beside other terms it does nothing; alone in a required node affinity it
#   excludes every node. Remove the term, or write the expressions that it lacks.
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

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.node_terms
	fact.empty
	lines := text.lines(fact.workload, [effect(fact)])
}

effect(fact) := "the empty preferred node affinity term favours no node" if not fact.hard

effect(fact) := sprintf("the empty node selector term matches no node and adds nothing to the %s beside it", [
	text.number(fact.others, "term"),
]) if {
	fact.hard
	fact.others > 0
}

effect(fact) := "the empty node selector term matches no node, so the required node affinity excludes all of them" if {
	fact.hard
	fact.others == 0
}
