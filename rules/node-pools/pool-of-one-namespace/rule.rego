# METADATA
# title: A pool that one namespace alone can use
# description: >-
#   Of several namespaces only one has workloads that can use this pool, DaemonSets aside, so its spare
#   capacity helps no one else. That is right for pools that are dedicated on purpose: list them in
#   except. Else merge the pool with another one. The rule is silent while it is unknown what nodes some
#   workload can use.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: note
#   since: v0.1.0
#   tags: [node-pools]
#   params:
#     type: object
#     properties:
#       except:
#         description: globs of pools that the rule leaves out
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["node-pools.pool-of-one-namespace"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), pool, {"reason": "pool-of-one-namespace", "values": values}) if {
	every workload in input.workloads { workload.placement_known }
	count({workload.namespace | some workload in input.workloads; not workload.per_node}) > 1
	some pool in input.pools
	not keys.listed(input.params.except, pool.name)
	using := {input.workloads[w].namespace | some w in pool.workloads; not input.workloads[w].per_node}
	count(using) == 1
	every namespace in using { keys.named(namespace) }
	values := {"pool": pool.name, "namespace": concat("", using)}
}
