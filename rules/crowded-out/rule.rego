# METADATA
# title: Some pods never fit
# description: >-
#   Affinity, host ports, resource requests and other hard rules leave no placement for all pods of these
#   workloads, although each rule alone can be satisfied. Some pods stay Pending in every scheduling order.
#   Run fewer pods, make one of the rules preferred, lower the requests, or add nodes. Declare workloads
#   that never share a cluster in separate clusters in the configuration.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["crowded-out"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "crowded-out") if {
	some row in input.crowds
	row.outcome == "never"
}
