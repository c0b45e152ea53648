# METADATA
# title: Pods are kept apart by preferred rules only
# description: >-
#   The anti-affinity or topologySpreadConstraints of the workload are preferred: the scheduler ignores them
#   when no other node has capacity, and then all pods can share a node or a zone. Where the loss of all
#   pods matters, require one of the rules. Nothing is reported if one of them is required, nor where the
#   declared nodes show that all pods can share a node or a zone: replicas-share-a-node, down-after-node-loss
#   and down-after-zone-loss say so.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [ha]
#   params:
#     type: object
#     properties:
#       labels:
#         description: labels as key=value; a workload counts if it or its pods carry one of them, and every one if there are none
#         type: array
#         items: {type: string}
#         default: []
#       min_pods:
#         description: number of pods from which a workload counts
#         type: integer
#         minimum: 1
#         default: 2
package schedlint.rules["ha.preferred-spread-only"]

import data.schedlint.labels
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), own[0], {"reason": "preferred-spread-only", "values": values}) if {
	some workload in input.workloads
	workload.permanent
	workload.pods_min >= input.params.min_pods
	labels.counts(workload, input.params.labels)
	not together(workload.on_one_node_min, workload.on_one_node_max, workload.pods_min)
	not together(workload.in_one_zone_min, workload.in_one_zone_max, workload.pods_min)
	apart := [term | some term in workload.terms; term.use != "affinity"; term.matches_own != "never"]
	every term in apart { not term.hard }
	own := [term | some term in apart; term.matches_own == "always"]
	values := {"workload": workload.ref, "pods": workload.pods_min, "key": own[0].key}
}

# together reports whether it is known that all pods of a workload can share a node or a zone.
together(least, most, pods) if {
	least > 0
	most >= pods
}
