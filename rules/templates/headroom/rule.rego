# METADATA
# title: Pods request nearly all that nodes offer
# description: >-
#   Pods that move in a rollout, a drain or after the loss of a node need free capacity in the cluster, or in
#   the pool or zone that they have to run in. What counts is certain: the requests of pods that can run
#   nowhere else, at the smallest number of replicas. Add nodes, or lower requests. Where a pool can grow, or
#   a node does not say what it offers, the answer is unknown.
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
	[least, most, domain] := max({[row.percent_min, row.percent_max, ""] | input.params.after == "none"} | losses(row))
	most >= input.params.percent
	short := {true: "never", false: "unknown"}[[least >= input.params.percent, row.name in growing] == [true, false]]
	values := {
		"outcome": short, "scope": row.scope, "name": row.name, "resource": row.resource, "percent": min([least, 1000]), "limit": input.params.percent,
		"after": input.params.after, "domain": domain,
	}
	given := outcome.told(short, input.params.report_unknown, {"reason": "headroom", "values": values})
}

losses(row) := {[loss.percent_min, loss.percent_max, loss.value] |
	some loss in row.losses
	loss.key == keys.topology(input.params.after)
}

# growing are the scopes with a pool that can grow; the cluster has no name
growing := {name | some pool in input.pools; pool.max > pool.count; some name in array.concat(["", pool.name], pool.zones)}
