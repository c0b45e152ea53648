# METADATA
# title: A key stands twice in one mapping
# description: >-
#   A mapping may hold a key once. Some tools refuse the document, others silently keep the first or the last
#   value, so what reaches the cluster depends on the tool. Remove one of the two.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["duplicate-key"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.documents
	fact.problem == "duplicate-key"
	message := sprintf("key %s stands here for the second time; the first is on line %d, and only one of them counts", [fact.detail, fact.first_line])
}
