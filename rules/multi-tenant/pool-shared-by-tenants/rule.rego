# METADATA
# title: A pool that several tenants use
# description: >-
#   Workloads of several tenants can use the nodes of this pool, so a container that breaks out, or uses
#   up what limits do not cover, affects other tenants. Give each tenant a pool of its own with a taint
#   and node affinity, or list the pool in shared_pools.
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
#       shared_pools:
#         description: globs of pools that tenants may share
#         type: array
#         default: []
#         items: {type: string}
package schedlint.rules["multi-tenant.pool-shared-by-tenants"]

import data.schedlint.keys
import data.schedlint.result
import data.schedlint.tenants

report contains result.worded(rego.metadata.chain(), pool, {"reason": "pool-shared-by-tenants", "values": values}) if {
	some pool in input.pools
	not keys.listed(input.params.shared_pools, pool.name)
	sharing := {tenant.name |
		some tenant in input.params.tenants
		some namespace in pool.namespaces
		tenants.has(tenant, namespace)
	}
	count(sharing) > 1
	values := {"pool": pool.name, "tenants": sort(sharing)}
}
