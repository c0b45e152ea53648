# METADATA
# title: A LimitRange rejects the pods
# description: >-
#   A LimitRange of the namespace has a minimum, maximum or ratio that the containers' requests or limits do
#   not keep, or sets a default that contradicts them. The workload exists without pods; only events of its
#   controller show the problem. Change the amount that the message names, or the LimitRange.
# related_resources:
#   - https://kubernetes.io/docs/concepts/policy/limit-range/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["limit-range-refuses-pods"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "limit-range-refuses-pods") if {
	some row in input.refusals
	row.stage == "limits"
}
