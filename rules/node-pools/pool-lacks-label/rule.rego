# METADATA
# title: A pool without a required label
# description: >-
#   Workloads, dashboards and cost reports choose nodes by labels that every pool has to carry, and a node
#   without them takes part in none of these. Add the labels to the pool, so that nodes which join later
#   have them too.
# related_resources:
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [node-pools]
#   params:
#     type: object
#     properties:
#       labels:
#         description: keys of the labels that every pool carries
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["node-pools.pool-lacks-label"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), pool, {"reason": "pool-lacks-label", "values": values, "path": ["labels"]}) if {
	some pool in input.pools
	missing := [label | some label in input.params.labels; not pool.labels[label]]
	count(missing) > 0
	values := {"pool": pool.name, "labels": missing}
}
