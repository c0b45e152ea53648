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

report contains result.reason(rego.metadata.chain(), row, "empty-node-selector-term") if {
	some row in input.node_terms
	row.empty
}
