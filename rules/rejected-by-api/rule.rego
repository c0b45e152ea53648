# METADATA
# title: The API server rejects the object
# description: >-
#   The object fails validation, so nothing is created or updated, and a pipeline that applies it stops. An
#   object of a misspelt kind is rejected as well. Correct the field that the message names. The rule covers
#   the fields that decide how many pods there are and where they run: names, labels, selectors, replicas,
#   update strategies, restart policies, requests and limits, ports, node and pod affinity, spread
#   constraints, tolerations, disruption budgets, autoscalers and nodes. It does not cover the rest, such as a
#   container without an image, a volumeMount without a volume, an ownerReference without a uid, privileged
#   containers, or admission webhooks.
# related_resources:
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/
# schemas:
#   - input: schema.facts
# custom:
#   category: invalid
#   since: v0.1.0
package schedlint.rules["rejected-by-api"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "rejected-by-api") if {
	some row in input.refusals
	row.stage == "object"
}
