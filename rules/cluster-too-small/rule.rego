# METADATA
# title: The nodes do not have enough capacity for all pods
# description: >-
#   The pods of one workload, or of several workloads limited to the same nodes, request more than the
#   eligible nodes have even when nothing else runs on them, so some pods stay Pending in every placement.
#   Pods that run to completion do not count. Lower the requests, run fewer replicas, or add nodes. Declare
#   workloads that never share a cluster in separate clusters in the configuration.
# related_resources:
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["cluster-too-small"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "cluster-too-small") if {
	some row in input.room
	row.outcome == "never"
}
