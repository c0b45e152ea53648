# METADATA
# title: An alias contains itself
# description: >-
#   The anchor is inside the value that it names, so the document has no finite value and no tool can apply
#   it. Move the alias out of the anchored value, or write out the value.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["alias-cycle"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "alias-cycle") if {
	some row in input.documents
	row.problem == "alias-cycle"
}
