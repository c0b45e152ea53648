# METADATA
# title: DaemonSets request a large part of a node
# description: >-
#   The pods of DaemonSets take their part of every node before any workload does, so on small nodes little
#   is left, and nodes that are added bring less than they seem to. The first node of each pool is judged.
#   Use larger nodes, or keep DaemonSets off those that do not need them.
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

report contains result.worded(rego.metadata.chain(), pool, {"reason": reason, "values": object.union(values, share)}) if {
	some pool in input.pools
	node := [node | some node in input.nodes; node.pool == pool.name][0]
	some offered in node.allocatable
	offered.resource in input.params.resources
	daemons := [workload | some w in node.workloads; workload := input.workloads[w]; workload.per_node]
	taken := sum([amount.value | some workload in daemons; some amount in workload.pod_requests; amount.resource == offered.resource])
	taken * 100 > offered.value * input.params.max_percent
	[reason, share] := part(taken, offered.value)
	values := {"pool": pool.name, "resource": offered.resource, "node": node.name, "limit": input.params.max_percent}
}

part(taken, offered) := ["daemonsets-fill-node", {"percent": ceil((taken * 100) / offered)}] if offered > 0

part(_, 0) := ["daemonsets-without-room", {}]
