# METADATA
# title: A pod requests more than any node has
# description: >-
#   One pod requests more of a resource than the largest eligible node has, even when that node is empty, so
#   no pod of the workload is scheduled. Preemption and more nodes of the same size do not help. Lower the
#   request, or add larger nodes.
# related_resources:
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# schemas:
#   - input: schema.facts
# custom:
#   category: infeasible
#   since: v0.1.0
package schedlint.rules["request-exceeds-nodes"]

import data.schedlint.result

report contains result.reason(rego.metadata.chain(), row, "request-exceeds-nodes") if {
	some row in input.requests
	row.outcome == "never"
}
