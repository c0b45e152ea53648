# METADATA
# title: Workloads wait for each other by required affinity
# description: >-
#   Each workload in the cycle is scheduled only next to pods of the next one, and none matches its own
#   term, so none of them can be scheduled first. Workloads outside the cycle that wait for it never start
#   either. Make one of the terms preferred.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["circular-affinity"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "circular-affinity") if {
	some row in input.circles
}
