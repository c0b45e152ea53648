# METADATA
# title: A document that is neither YAML nor JSON
# description: >-
#   The document cannot be parsed, so no tool can apply it and no rule can check it. Other documents in the
#   file are still checked. Correct the syntax at the marked location. Only documents with a line that has
#   the key apiVersion or kind are reported; templates and other text are skipped and counted.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["unparsable-document"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "unparsable-document") if {
	some row in input.documents
	row.problem == "unparsable-document"
}
