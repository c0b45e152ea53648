# METADATA
# title: Pods stay Pending after the loss of a node or a zone
# description: >-
#   After the loss of any one node, or of all nodes of any one zone, every pod has to run again on the nodes
#   that are left. Here that is impossible, or depends on where the scheduler places pods: the other nodes
#   lack capacity, or a hard rule keeps the pods off them. Add nodes, or relax the rule. Losses that the
#   configuration requires workloads to survive are left to node-loss-leaves-pods-pending and
#   zone-loss-leaves-pods-pending. Whether the workload is down in the meantime is another question:
#   replicas-share-a-node, down-after-node-loss and down-after-zone-loss ask it.
# related_resources:
#   - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [ha]
#   asks: [{survive: {param: keys}}]
#   params:
#     type: object
#     properties:
#       keys:
#         description: losses to survive, as node, zone, region or a topology key
#         type: array
#         items: {type: string}
#         default: [node, zone]
#       min_pods:
#         description: number of pods from which a workload counts
#         type: integer
#         minimum: 1
#         default: 2
#       unreachable:
#         description: also judge the time while lost nodes are unreachable and their Node objects remain
#         type: boolean
#         default: false
#       report_unknown:
#         description: report as a note where the answer is unknown
#         type: boolean
#         default: false
package schedlint.rules["ha.not-restored-after-loss"]

import data.schedlint.keys
import data.schedlint.outcome
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), row, given) if {
	some row in input.losses
	row.key in {keys.topology(key) | some key in input.params.keys}
	asked(row.meaning)
	not reported_elsewhere(row)
	workload := input.workloads[row.w]
	workload.pods_min >= input.params.min_pods
	values := {
		"outcome": row.outcome, "workload": workload.ref, "kind": keys.kind(row.key), "domain": row.value, "like": row.like,
		"pending": row.pending_max, "pods": row.pods, "least": workload.pods_min,
	}
	given := outcome.told(row.outcome, input.params.report_unknown, {"reason": "not-restored-after-loss", "values": values})
}

asked(meaning) if meaning != "unreachable"

asked("unreachable") if input.params.unreachable

# node-loss-leaves-pods-pending and zone-loss-leaves-pods-pending report required losses, but no unknown ones.
reported_elsewhere(row) if {
	row.required
	row.outcome != "unknown"
}
