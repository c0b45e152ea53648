# METADATA
# title: The aliases of a document expand beyond all bounds
# description: >-
#   Aliases that repeat aliases grow without limit when they are resolved, which is a known way to exhaust the
#   memory of a parser. The API server refuses such documents, and this one is not judged. Write the values
#   out.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["alias-bomb"]

import data.schedlint.result

report contains result.explained(rego.metadata.chain(), fact, lines) if {
	some fact in input.documents
	fact.problem == "alias-bomb"
	lines := [fact.detail, "write the values out"]
}
