# METADATA
# title: A workload lacks a rule that spreads its pods or keeps them together
# description: >-
#   Required anti-affinity keeps the pods of a workload apart, required affinity keeps them together, and a
#   topologySpreadConstraint with DoNotSchedule balances them. A term counts if its selector selects the pods
#   of the workload itself, so a copied selector of another workload does not. Add the term, or correct its
#   labelSelector. Where only the maxSkew of the term is too large, the finding is about that.
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
	needs_term(workload)
	every term in workload.terms { not is_needed(term) }
	values := {"workload": workload.ref, "pods": workload.pods_min, "use": input.params.use, "hard": input.params.hard, "key": key}
}

report contains result.worded(rego.metadata.chain(), uneven[0], {"reason": "skew-too-large", "values": values, "path": ["maxSkew"]}) if {
	some workload in input.workloads
	needs_term(workload)
	uneven := [term | some term in workload.terms; is_needed(term)]
	every term in uneven { too_uneven(term) }
	values := {"workload": workload.ref, "key": key, "skew": uneven[0].max_skew, "limit": input.params.max_skew}
}

key := keys.topology(input.params.key)

needs_term(workload) if {
	workload.known
	workload.terms_known
	workload.permanent
	workload.pods_min >= input.params.min_pods
	counts(workload.pods_min)
}

counts(_) if count(input.params.pods) == 0

counts(pods) if pods in input.params.pods

is_needed(term) if {
	term.use == input.params.use
	hard_enough(term)
	term.key == key
	term.matches_own != "never"
}

hard_enough(term) if term.hard

hard_enough(_) if not input.params.hard

too_uneven(term) if {
	input.params.max_skew > 0
	term.max_skew > input.params.max_skew
}
