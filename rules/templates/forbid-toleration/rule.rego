# METADATA
# title: A toleration that is forbidden
# description: >-
#   A taint reserves nodes for the pods that tolerate it. A toleration of every taint opens all of them, those
#   of other teams and of nodes that are about to fail included, and one that was copied opens nodes that were
#   reserved for others. Remove it, or name the taints that the pods need. Agents that have to run everywhere
#   may need such a toleration; leave them out by a scope.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   params:
#     type: object
#     properties:
#       keys:
#         description: keys of taints that may not be tolerated, as globs
#         type: array
#         items: {type: string}
#         default: []
#       everything:
#         description: whether a toleration of every taint is forbidden
#         type: boolean
#         default: true
package schedlint.rules["forbid-toleration"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), toleration, {"reason": "tolerates-all-taints", "values": values}) if {
	some workload in input.workloads
	some toleration in workload.tolerations
	input.params.everything
	toleration.tolerates_all
	values := {"workload": workload.ref}
}

report contains result.worded(rego.metadata.chain(), toleration, {"reason": "tolerates-forbidden-taint", "values": values}) if {
	some workload in input.workloads
	some toleration in workload.tolerations
	toleration.key != ""
	keys.listed(input.params.keys, toleration.key)
	values := {"workload": workload.ref, "key": toleration.key}
}
