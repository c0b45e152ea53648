# METADATA
# title: A render fails
# description: >-
#   What is deployed cannot be built from these sources, so none of it is judged: kustomize refuses the directory, as
#   when a file that it names is missing. Correct what the kustomization names, or leave it out of renders.
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["render-failed"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.documents
	fact.problem == "render-failed"
	message := sprintf("this does not render: %s", [fact.detail])
}
