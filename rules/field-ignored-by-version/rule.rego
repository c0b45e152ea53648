# METADATA
# title: A field that the cluster's version of Kubernetes drops
# description: >-
#   The API server of an older release drops a field that it does not have, or whose feature gate is off, and
#   says nothing. The object is accepted, and its pods run without what the field asks for. Upgrade the
#   cluster, enable the feature gate, or remove the field. The version is that of the configuration
#   (kubernetes).
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
