# METADATA
# title: The loss of one zone can take all pods down
# description: >-
#   All pods of the workload can run in one zone, so it is down from the loss of that zone until the pods
#   have started again elsewhere. Preferred rules and the defaults of the scheduler spread pods only while
#   other nodes have capacity. Add a hard topologySpreadConstraint, or required anti-affinity, on
#   topology.kubernetes.io/zone. A workload that can use the nodes of one zone only is reported, too. Where
#   all pods can share one node, replicas-share-a-node or down-after-node-loss says so, and this rule is
#   silent.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [ha]
#   params:
#     type: object
#     properties:
#       min_pods:
#         description: number of pods from which a workload counts
#         type: integer
#         minimum: 1
#         default: 2
package schedlint.rules["ha.down-after-zone-loss"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "down-after-loss", "values": values}) if {
	some workload in input.workloads
	workload.permanent
	workload.pods_min >= input.params.min_pods
	workload.in_one_zone_min > 0
	workload.in_one_zone_max >= workload.pods_min
	workload.on_one_node_max < workload.pods_min
	values := {"workload": workload.ref, "pods": workload.pods_min, "kind": "zone", "key": "topology.kubernetes.io/zone"}
}
