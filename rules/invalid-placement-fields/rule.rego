# METADATA
# title: Placement fields that no pod may have
# description: >-
#   A custom resource, the values of a chart or another object that schedlint does not judge has placement
#   fields (affinity, tolerations, node selector, spread constraints) with the names and types of the core
#   API. A pod with these values is refused. Whether the object itself is refused is up to its own schema, and
#   its controller may change the values before it makes pods. Correct the field that the message names.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["invalid-placement-fields"]

import data.schedlint.result
import data.schedlint.text

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.refusals
	fact.stage == "fragment"
	lines := text.lines(fact.workload, [sprintf("%s: %s", [fact.field, fact.reason]), "the API server refuses a pod with this"])
}
