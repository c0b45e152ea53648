# METADATA
# title: The document is nested too deeply
# description: >-
#   The document nests values deeper than any Kubernetes object and deeper than parsers accept, so schedlint
#   does not check it. Look for a runaway generator, or for indentation that grows with every entry.
# related_resources:
#   - https://yaml.org/spec/1.2.2/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["nesting-too-deep"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.documents
	fact.problem == "nesting-too-deep"
	message := sprintf("the document nests too deeply: %s", [fact.detail])
}
