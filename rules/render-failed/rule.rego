# METADATA
# title: A render fails
# description: >-
#   kustomize cannot build this directory, for example because a file that it refers to is missing, so
#   schedlint does not check what is deployed from it. Correct the kustomization, or leave the directory out
#   of renders.
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["render-failed"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "render-failed") if {
	some row in input.documents
	row.problem == "render-failed"
}
