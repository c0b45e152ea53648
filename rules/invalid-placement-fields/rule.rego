# METADATA
# title: Placement fields that are invalid in a pod
# description: >-
#   A custom resource, the values of a chart, or another object that schedlint does not check has placement
#   fields (affinity, tolerations, nodeSelector, topologySpreadConstraints) with the names and types of the
#   core API. The API server rejects a pod with these values. Whether it rejects the object depends on its
#   own schema, and its controller may change the values before it creates pods. Correct the field that the
#   message names.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["invalid-placement-fields"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "invalid-placement-fields") if {
	some row in input.refusals
	row.stage == "fragment"
}
