# METADATA
# title: Pod affinity that selects no declared pods
# description: >-
#   Pod affinity schedules pods next to the pods that it selects, and it selects no declared pods. A
#   required term then waits for pods from elsewhere; a preferred one has no effect. Often the selector uses
#   a label that was renamed or never set. The rule ignores labels that the operator of a declared custom
#   resource may set on its pods.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
package schedlint.rules["selector-matches-no-pod"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "selector-matches-no-pod") if {
	some row in input.selectors
	row.use == "affinity"
	row.matches == 0
	row.maker == ""
	not reported_elsewhere(row)
}

reported_elsewhere(row) if {
	row.hard
	row.form == "null"
}

reported_elsewhere(row) if {
	row.matches_own == "always"
	row.own_namespace == "never"
}
