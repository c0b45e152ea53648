# METADATA
# title: A pool that no workload can use
# description: >-
#   Only DaemonSets, or no pods at all, can use the nodes of this pool: taints, labels or a cordon keep
#   every declared workload off. Either the pool is left over and costs money, or the pods that it is for
#   miss a toleration or a label. This holds for trees that declare all workloads of a cluster. The rule
#   is silent while it is unknown what nodes some workload can use.
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
#       except:
#         description: globs of pools that the rule leaves out
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["node-pools.pool-without-workloads"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), pool, {"reason": "pool-without-workloads", "values": values}) if {
	every workload in input.workloads { workload.placement_known }
	others := {w | some w, workload in input.workloads; not workload.per_node}
	count(others) > 0
	some pool in input.pools
	not keys.listed(input.params.except, pool.name)
	pool.workloads_known
	count(others & {w | some w in pool.workloads}) == 0
	values := {"pool": pool.name}
}
