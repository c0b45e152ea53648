# METADATA
# title: A pool is too small without one of its nodes
# description: >-
#   The pods that can run in this pool only request more than max_percent of what it offers after the loss
#   of one node. Above 100% some stay Pending, however large the other pools are. DaemonSets count on the
#   nodes that are left, autoscalers at their minimum, and pods that run to completion not at all. A pool
#   that can grow counts with its largest size, unless growing is set, and one with all nodes of the
#   cluster is left to short-after-node-loss and short-after-zone-loss. Add a node to the pool, let the pods use another pool,
#   or lower the requests.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [capacity]
#   params:
#     type: object
#     properties:
#       keys:
#         description: losses to judge; node, zone, or both
#         type: array
#         items: {type: string, enum: [node, zone]}
#         default: [node]
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
package schedlint.rules["capacity.pool-short-after-loss"]

import data.schedlint.capacity
import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), row, given) if {
	some row in input.capacity
	row.scope == "pool"
	row.resource in input.params.resources
	not row.name in whole
	some key in input.params.keys
	loss := capacity.worst(row, keys.topology(key), input.params.growing)
	given := capacity.told(row.name, row, loss, input.params)
}

# whole has the pool with all nodes, if there is one.
whole := {pool.name | count(input.pools) == 1; some pool in input.pools; pool.count == input.cluster.nodes}
