# METADATA
# title: The API server rejects the object
# description: >-
#   The object fails validation, so nothing is created or updated, and a pipeline that applies it stops.
#   Correct the field that the message names.
# related_resources:
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["rejected-by-api"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.refusals
	fact.stage == "object"
	message := sprintf("%s: %s: %s", [fact.workload, fact.field, fact.reason])
}
