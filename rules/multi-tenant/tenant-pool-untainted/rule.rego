# METADATA
# title: A tenant's pool without a taint
# description: >-
#   Any pod without node affinity can land on the nodes of this pool, and nothing but the manifests of
#   others keeps them off. Taint the nodes with effect NoSchedule or NoExecute and let only the pods of
#   the tenant tolerate the taint.
# related_resources:
#   - https://kubernetes.io/docs/concepts/security/multi-tenancy/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [multi-tenant]
#   params:
#     type: object
#     properties:
#       tenants:
#         description: the tenants, each with the globs of its namespaces and of its pools
#         type: array
#         default: []
#         items:
#           type: object
#           required: [name, namespaces]
#           properties:
#             name: {type: string, description: name for messages}
#             namespaces: {type: array, minItems: 1, description: globs of namespaces, items: {type: string}}
#             pools: {type: array, default: [], description: globs of pools, items: {type: string}}
package schedlint.rules["multi-tenant.tenant-pool-untainted"]

import data.schedlint.result
import data.schedlint.tenants

report contains result.worded(rego.metadata.chain(), pool, {"reason": "tenant-pool-untainted", "values": values}) if {
	some pool in input.pools
	owners := tenants.owners(input.params.tenants, pool.name)
	count(owners) > 0
	count([taint | some taint in pool.taints; taint.effect != "PreferNoSchedule"]) == 0
	values := {"pool": pool.name, "tenants": sort(owners)}
}
