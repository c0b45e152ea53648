# METADATA
# title: The loss of one zone can take the quorum
# description: >-
#   Consensus needs a majority of the members. Half of the pods or more can run in one zone, so its loss
#   leaves no majority and the workload stops, even though some pods keep running. Where all of them can,
#   down-after-zone-loss says so. Add a hard topologySpreadConstraint with maxSkew: 1 over at least three
#   zones, or required anti-affinity. By default each StatefulSet of 3, 5 or 7 pods counts as one that needs
#   a quorum; name the labels of those that do, of whatever kind.
# related_resources:
#   - https://kubernetes.io/docs/setup/best-practices/multiple-zones/
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
#       labels:
#         description: labels of workloads or pods with a quorum, as key=value; without any, all StatefulSets count
#         type: array
#         items: {type: string}
#         default: []
#       pods:
#         description: numbers of pods of workloads with a quorum
#         type: array
#         items: {type: integer}
#         default: [3, 5, 7]
package schedlint.rules["ha.quorum-in-one-zone"]

import data.schedlint.labels
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "quorum-in-one-zone", "values": values}) if {
	some workload in input.workloads
	workload.pods_min in input.params.pods
	workload.in_one_zone_min > 0
	workload.in_one_zone_max * 2 >= workload.pods_min
	workload.in_one_zone_max < workload.pods_min
	has_quorum(workload)
	values := {"workload": workload.ref, "down": workload.in_one_zone_max, "pods": workload.pods_min}
}

has_quorum(workload) if labels.carries(workload, input.params.labels)

has_quorum(workload) if {
	workload.kind == "StatefulSet"
	count(input.params.labels) == 0
}
