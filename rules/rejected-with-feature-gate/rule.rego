# METADATA
# title: A value that the API server refuses once a feature gate is on
# description: >-
#   The API server drops the field while its feature gate is off, so the value does nothing. Once the gate is
#   on, it refuses the object. An upgrade of Kubernetes may switch the gate on. Repair the value or drop the
#   field.
# related_resources:
#   - https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["rejected-with-feature-gate"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.refusals
	fact.stage == "gate"
	message := sprintf(
		"%s: %s: %s (dropped without the feature gate %s, refused with it)",
		[fact.workload, fact.field, fact.reason, fact.gate],
	)
}
