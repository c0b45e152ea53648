# METADATA
# title: A field that the API does not have
# description: >-
#   The API server drops unknown fields unless the client requests strict validation, so the value never
#   reaches the scheduler. Usually the name is misspelled or at the wrong indentation.
# related_resources:
#   - https://kubernetes.io/docs/reference/using-api/api-concepts/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["unknown-field"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "unknown-field") if {
	some row in input.unknown_fields
}
