# METADATA
# title: A taint that the list of taints does not have
# description: >-
#   The parameter taints lists the keys of the taints that the platform documents. A taint beside them
#   keeps pods off nodes without anyone knowing which toleration is needed, and is often a misspelt key.
#   Use a documented key, or add this one to the list. An empty list turns the rule off; taints that
#   Kubernetes sets by itself (node.kubernetes.io) need no entry.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
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
#       taints:
#         description: globs of the keys of documented taints
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["node-pools.undocumented-taint"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), taint, {"reason": "undocumented-taint", "values": values}) if {
	some pool in input.pools
	some taint in pool.taints
	not keys.matches(input.params.taints, taint.key)
	not startswith(taint.key, "node.kubernetes.io/")
	values := {"pool": pool.name, "key": taint.key}
}
