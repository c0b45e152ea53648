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

report contains result.reason(rego.metadata.chain(), row, "nesting-too-deep") if {
	some row in input.documents
	row.problem == "nesting-too-deep"
}
