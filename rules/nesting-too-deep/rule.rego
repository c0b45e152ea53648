# METADATA
# title: The document is nested too deeply
# description: >-
#   The document nests values more deeply than any Kubernetes object does and deeper than parsers accept. It
#   is not judged. Look for a generator that runs away or an indentation that grows with every entry.
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
	message := sprintf("%s of nesting", [fact.detail])
}
