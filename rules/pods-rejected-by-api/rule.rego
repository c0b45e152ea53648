# METADATA
# title: The API server accepts the object and refuses its pods
# description: >-
#   The object itself passes validation, but every pod that its controller creates from it is refused, so the
#   workload exists and stays without pods. Nothing fails when it is applied; only events of the controller
#   tell. Repair the field that the message names.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/controllers/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["pods-rejected-by-api"]

import data.schedlint.result

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.refusals
	fact.stage == "pods"
	message := sprintf("%s: every pod is refused: %s: %s", [fact.workload, fact.field, fact.reason])
}
