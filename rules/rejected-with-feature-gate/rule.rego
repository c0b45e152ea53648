# METADATA
# title: A value that the API server rejects when a feature gate is enabled
# description: >-
#   While the feature gate is disabled, the API server drops the field and the value has no effect. Once it
#   is enabled, possibly by a Kubernetes upgrade, the API server rejects the object. Correct the value or
#   remove the field.
# related_resources:
#   - https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["rejected-with-feature-gate"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "rejected-with-feature-gate") if {
	some row in input.refusals
	row.stage == "gate"
}
