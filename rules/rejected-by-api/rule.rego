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

report contains result.reason(rego.metadata.chain(), row, "rejected-by-api") if {
	some row in input.refusals
	row.stage == "object"
}
