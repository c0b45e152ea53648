# METADATA
# title: A toleration that is forbidden
# description: >-
#   A taint reserves nodes for the pods that tolerate it. A toleration of every taint opens all of them, those
#   of other teams and of nodes that are about to fail included, and one that was copied opens nodes that were
#   reserved for others. Two tolerations without a key, one for NoSchedule and one for NoExecute, open all
#   nodes as one for both does. A toleration without a key also tolerates each forbidden key; one for
#   NoExecute is reported if a declared pool has a taint with that effect and a forbidden key. Remove the
#   toleration, or name the taints that the pods need. Agents that have to run everywhere may need it; leave
#   them out by a scope.
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

report contains result.worded(rego.metadata.chain(), toleration, {"reason": "tolerates-every-key", "values": values}) if {
	some workload in input.workloads
	some toleration in workload.tolerations
	toleration.key == ""
	toleration.operator == "Exists"
	not reported_as_everything(toleration)
	forbidden := tolerated(toleration.effect)
	count(forbidden) > 0
	values := {"workload": workload.ref, "effect": toleration.effect, "keys": forbidden}
}

reported_as_everything(toleration) if {
	input.params.everything
	toleration.tolerates_all
}

# tolerated are the forbidden keys that a toleration of every key opens nodes with.
tolerated(effect) := input.params.keys if effect in {"", "NoSchedule"}

tolerated("NoExecute") := sort({taint.key |
	some pool in input.pools
	some taint in pool.taints
	taint.effect == "NoExecute"
	keys.listed(input.params.keys, taint.key)
})
