# METADATA
# title: Document aliases expand without limit
# description: >-
#   Nested aliases grow exponentially when they are resolved, a known way to exhaust the memory of a parser.
#   The API server rejects such documents, and schedlint does not check this one. Write out the values
#   instead.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["alias-bomb"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "alias-bomb") if {
	some row in input.documents
	row.problem == "alias-bomb"
}
