# METADATA
# title: The API server accepts the object and rejects its pods
# description: >-
#   The object passes validation, but the API server rejects every pod that its controller creates, so the
#   workload exists without pods. Applying it reports no error; only events of the controller show the
#   problem. Correct the field that the message names.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["pods-rejected-by-api"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "pods-rejected-by-api") if {
	some row in input.refusals
	row.stage == "pods"
}
