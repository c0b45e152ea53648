# METADATA
# title: The cluster is too small without one node
# description: >-
#   After the loss of one node, the pods request more than max_percent of what the remaining nodes offer.
#   Above 100% some stay Pending. DaemonSets count on the nodes that are left, autoscalers at their minimum,
#   and pods that run to completion not at all. Pools that can grow count with their largest size,
#   unless growing is set. Add a node, or lower the requests.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [capacity]
#   params:
#     type: object
#     properties:
#       max_percent:
#         description: what pods may request at most, in percent of what is left
#         type: integer
#         minimum: 1
#         default: 100
#       resources:
#         description: resources to judge
#         type: array
#         items: {type: string}
#         default: [cpu, memory]
#       growing:
#         description: judge pools that can grow by the nodes that are declared, not by their largest size
#         type: boolean
#         default: false
#       report_unknown:
#         description: report as a note where the answer is unknown
#         type: boolean
#         default: false
package schedlint.rules["capacity.short-after-node-loss"]

import data.schedlint.capacity
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), row, given) if {
	some row in input.capacity
	row.scope == "cluster"
	row.resource in input.params.resources
	loss := capacity.worst(row, "kubernetes.io/hostname", input.params.growing)
	given := capacity.told("", row, loss, input.params)
}
