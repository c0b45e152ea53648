# METADATA
# title: The text is neither YAML nor JSON
# description: >-
#   The document cannot be read, so no tool can apply it and no rule can judge it. The other documents of the
#   file are judged all the same. Repair the syntax at the place that is marked. Only a document with a line
#   that has the key apiVersion or kind is reported; templates and other text are skipped and counted.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["unparsable-document"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.documents
	fact.problem == "unparsable-document"
	message := sprintf("this is not valid YAML or JSON: %s", [fact.detail])
}
