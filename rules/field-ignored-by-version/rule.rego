# METADATA
# title: A field that the cluster drops
# description: >-
#   The API server of an older release silently drops a field that it does not have, or whose feature gate is
#   off. It accepts the object, and the pods run without what the field asks for. Upgrade the cluster, enable
#   the feature gate, or remove the field. The configuration says which version the cluster runs (kubernetes).
# related_resources:
#   - https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["field-ignored-by-version"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "field-ignored-by-version") if {
	some row in input.refusals
	row.stage == "version"
}
