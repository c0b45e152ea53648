# METADATA
# title: Workloads and node pools are not kept apart
# description: >-
#   A pool that is set aside needs two rules: its own pods must not run elsewhere, which takes a nodeSelector
#   or node affinity, and other pods must not run on it, which takes a taint. Either alone leaves one direction
#   open. Judged are the required rules of the pods and the taints of all declared nodes; a scope would hide
#   the workloads of others, so give the namespaces as a parameter.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#   - https://kubernetes.io/docs/concepts/security/multi-tenancy/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   since: v0.1.0
#   template: true
#   params:
#     type: object
#     required: [pools]
#     properties:
#       pools:
#         description: names of the pools, as globs
#         type: array
#         minItems: 1
#         items: {type: string}
#       namespaces:
#         description: namespaces whose workloads belong in these pools, as globs; none for all
#         type: array
#         items: {type: string}
#         default: []
#       exclusive:
#         description: whether workloads of other namespaces may not use these pools
#         type: boolean
#         default: true
#       per_node:
#         description: whether DaemonSets count
#         type: boolean
#         default: false
package schedlint.rules["only-in-pool"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "outside-required-pool", "values": values}) if {
	some i, workload in input.workloads
	judged(workload)
	keys.matches(input.params.namespaces, workload.namespace)
	others := [name | some name in workload.pools; not keys.matches(input.params.pools, name)]
	poolless := i in unpooled
	leaves_its_pools(others, poolless)
	values := {"workload": workload.ref, "pools": input.params.pools, "others": others, "poolless": poolless}
}

report contains result.worded(rego.metadata.chain(), workload, {"reason": "pool-set-aside", "values": values}) if {
	input.params.exclusive
	some workload in input.workloads
	judged(workload)
	keys.named(workload.namespace)
	not keys.matches(input.params.namespaces, workload.namespace)
	used := [name | some name in workload.pools; keys.matches(input.params.pools, name)]
	count(used) > 0
	values := {"workload": workload.ref, "pools": used, "namespaces": input.params.namespaces}
}

# judged leaves DaemonSets out, unless the parameter asks for them.
judged(workload) if not workload.per_node

judged(_) if input.params.per_node

leaves_its_pools(others, _) if count(others) > 0

leaves_its_pools(_, poolless) if poolless

# unpooled are the workloads that can use a node without a pool. Many nodes have the same list.
unpooled := {i | some users in {node.workloads | some node in input.nodes; node.pool == ""}; some i in users}
