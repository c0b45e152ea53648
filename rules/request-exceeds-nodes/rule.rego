# METADATA
# title: A pod requests more than any node has
# description: >-
#   One pod alone asks for more of a resource than the largest eligible node offers, even when the node is
#   empty, so no pod of the workload is ever placed there. Preemption and scaling out do not help. Lower the
#   request, or give the workload larger nodes.
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

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.requests
	fact.verdict == "never"
	ask := sprintf("each pod requests %s of %s", [fact.request, fact.resource])
	message := text.line(fact.workload, array.flatten([ask, offer(fact)]))
}

offer(fact) := [sprintf("%s as much", [text.none_has(fact.eligible)]), largest(fact)] if not fact.per_node

offer(fact) := [sprintf("%s less", [text.some_have(small, fact.eligible)]), text.pending(small)] if {
	fact.per_node
	small := fact.eligible - fact.fitting
}

largest(fact) := "" if fact.largest_node == ""

largest(fact) := sprintf("the largest, %s, has %s", [fact.largest_node, fact.largest]) if fact.largest_node != ""
