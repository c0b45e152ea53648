# METADATA
# title: A workload lacks a rule that spreads its pods or keeps them together
# description: >-
#   Required anti-affinity keeps the pods of a workload apart, required affinity keeps them together, and a
#   topologySpreadConstraint with DoNotSchedule balances them. A term counts if its selector selects the pods
#   of the workload itself, so a copied selector of another workload does not. Add the term, or correct its
#   labelSelector.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   params:
#     type: object
#     required: [use]
#     properties:
#       use:
#         description: what is required, anti-affinity or affinity between pods, or a topologySpreadConstraint
#         type: string
#         enum: [anti-affinity, affinity, spread]
#       key:
#         description: topology key of the term, as node, zone, region or the key of a node label
#         type: string
#         default: node
#       hard:
#         description: whether terms that are only preferred (ScheduleAnyway) do not count
#         type: boolean
#         default: true
#       max_skew:
#         description: largest maxSkew that a topologySpreadConstraint may have; 0 for any
#         type: integer
#         minimum: 0
#         default: 0
#       min_pods:
#         description: number of pods from which a workload needs the term
#         type: integer
#         minimum: 1
#         default: 2
#       pods:
#         description: numbers of pods that a workload needs the term at, such as 3 and 5; none for all
#         type: array
#         items: {type: integer, minimum: 1}
#         default: []
package schedlint.rules["require-term"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "require-term", "values": values}) if {
	some workload in input.workloads
	workload.known
	workload.terms_known
	workload.permanent
	workload.pods_min >= input.params.min_pods
	workload.pods_min in array.concat(input.params.pods, [workload.pods_min | count(input.params.pods) == 0])
	every term in workload.terms { not enough(term) }
	values := {"workload": workload.ref, "pods": workload.pods_min, "use": input.params.use, "hard": input.params.hard, "key": key}
}

key := keys.topology(input.params.key)

# a term that has a variable may be the one
enough(term) if regex.match(`^$|\$`, term.key)

enough(term) if {
	term.use == input.params.use
	term.hard in {true, input.params.hard}
	term.key == key
	term.matches_own != "never"
	term.max_skew * min([input.params.max_skew, 1]) <= input.params.max_skew # 0 allows any
}
