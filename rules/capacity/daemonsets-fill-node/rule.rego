# METADATA
# title: DaemonSets request a large part of a node
# description: >-
#   DaemonSet pods use part of every node. On small nodes they leave little room for other workloads, and
#   adding nodes adds less capacity than expected. The rule reports the node of each pool on which they
#   request the largest share, including nodes that the pool can add. It ignores requests with variables.
#   Use larger nodes, or keep DaemonSets off nodes that do not need them.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/
#   - https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [capacity]
#   params:
#     type: object
#     properties:
#       max_percent:
#         description: what DaemonSets may request at most, in percent of what the node offers
#         type: integer
#         minimum: 1
#         default: 30
#       resources:
#         description: resources to judge
#         type: array
#         items: {type: string}
#         default: [cpu, memory]
package schedlint.rules["capacity.daemonsets-fill-node"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), share, {"reason": reason(share), "values": object.union(values, percent(share))}) if {
	some pool in input.pools
	some share in pool.daemonsets
	share.resource in input.params.resources
	share.requested_min * 100 > share.allocatable * input.params.max_percent
	values := {"pool": pool.name, "resource": share.resource, "node": share.node, "limit": input.params.max_percent}
}

reason(share) := "daemonsets-fill-node" if share.allocatable > 0

reason(share) := "daemonsets-without-room" if share.allocatable == 0

percent(share) := {"percent": ceil((share.requested_min * 100) / share.allocatable)} if share.allocatable > 0

percent(share) := {} if share.allocatable == 0
