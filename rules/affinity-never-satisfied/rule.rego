# METADATA
# title: Required pod affinity that no pod can satisfy
# description: >-
#   Required pod affinity schedules a pod only next to pods that match every term, on a node that has every
#   topology key. Without a labelSelector, with contradicting terms, or with a key that no eligible node
#   has, no such node exists and every pod stays Pending. Correct the key or the selector.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["affinity-never-satisfied"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "affinity-never-satisfied") if {
	some row in input.affinity
	row.outcome == "never"
}
