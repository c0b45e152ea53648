# METADATA
# title: Pods request nearly all that nodes offer
# description: >-
#   Pods that move in a rollout, a drain or after the loss of a node need free capacity in the cluster, or in
#   the pool or zone that they have to run in. What counts is certain: the requests of pods that can run
#   nowhere else, at the smallest number of replicas. Where a pool can grow, the largest size has to be as
#   full as the declared one; else the answer is unknown, as it is where a node does not say what it offers.
#   Add nodes, or lower requests.
# related_resources:
#   - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   params:
#     type: object
#     properties:
#       percent:
#         description: percentage of what nodes offer from which requests are reported
#         type: integer
#         minimum: 1
#         default: 90
#       scope:
#         description: nodes that count together
#         type: string
#         enum: [cluster, pool, zone]
#         default: cluster
#       after:
#         description: >-
#           what is lost before the other nodes of the scope are counted, the worst node or zone, or none; a zone
#           cannot be lost from a zone
#         type: string
#         enum: [none, node, zone]
#         default: node
#       resources:
#         description: names of the resources that count
#         type: array
#         items: {type: string}
#         default: [cpu, memory]
#       report_unknown:
#         description: whether to report, as notes, requests that are only possible, and pools that can grow
#         type: boolean
#         default: false
package schedlint.rules.headroom

import data.schedlint.keys
import data.schedlint.outcome
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), row, given) if {
	some row in input.capacity
	row.scope == input.params.scope
	row.resource in input.params.resources
	load := worst([load | some load in loads(row); load.most >= input.params.percent])
	short := shortage(load)
	values := {
		"outcome": short, "scope": row.scope, "name": row.name, "resource": row.resource, "percent": min([load.least, 1000]), "limit": input.params.percent,
		"after": input.params.after, "domain": load.domain, "grown": load.grown,
	}
	given := outcome.told(short, input.params.report_unknown, {"reason": "headroom", "values": values})
}

# loads has what pods request of a scope, or of what each loss leaves of it.
loads(row) := [load(row, "", row.allocatable_max > row.allocatable)] if input.params.after == "none"

loads(row) := [load(loss, loss.value, loss.left_max > loss.left) |
	some loss in row.losses
	loss.key == keys.topology(input.params.after)
] if {
	input.params.after != "none"
}

# load has bounds that hold for the declared nodes and for pools at their largest size.
load(percents, domain, grown) := {
	"least": min([percents.percent_min, percents.percent_grown_min]),
	"most": max([percents.percent_max, percents.percent_grown_max]),
	"domain": domain,
	"grown": grown,
}

# worst has the highest bound; of equal ones it is the last.
worst(all) := equal[count(equal) - 1] if {
	highest := max([load.least | some load in all])
	equal := [load | some load in all; load.least == highest]
}

shortage(load) := "never" if load.least >= input.params.percent

shortage(load) := "unknown" if load.least < input.params.percent
