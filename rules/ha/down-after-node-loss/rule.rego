# METADATA
# title: The loss of one node can take all pods down
# description: >-
#   All pods of the workload can run on one node, so it is down from the loss of that node until the pods
#   have started again elsewhere. Where the declared number of replicas can share one of several nodes,
#   replicas-share-a-node says so, and this rule is silent. It reports pods that can use one node only, and
#   those that an autoscaler keeps at its minimum. Let the pods use more nodes, and add a hard
#   topologySpreadConstraint, or required anti-affinity, on kubernetes.io/hostname.
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
package schedlint.rules["ha.down-after-node-loss"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "down-after-loss", "values": values}) if {
	some w, workload in input.workloads
	not w in sharing
	workload.permanent
	workload.pods_min >= input.params.min_pods
	workload.on_one_node_min > 0
	workload.on_one_node_max >= workload.pods_min
	values := {"workload": workload.ref, "pods": workload.pods_min, "kind": "node", "key": "kubernetes.io/hostname"}
}

# sharing are the workloads that replicas-share-a-node reports.
sharing := {row.w | some row in input.sharing; row.outcome == "sometimes"}
