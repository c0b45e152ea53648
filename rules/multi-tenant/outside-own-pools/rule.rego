# METADATA
# title: A tenant's workload that can use pools of others
# description: >-
#   Pods of a tenant that may land outside of the tenant's own pools share nodes, and their kernels, with
#   others. A taint on the own pool keeps others off it, but does not keep the tenant's pods on it. Add a
#   nodeSelector or required node affinity for a label that only the tenant's pools have. Pools of other
#   tenants are left to multi-tenant.uses-foreign-pool and multi-tenant.toleration-opens-foreign-pool.
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
package schedlint.rules["multi-tenant.outside-own-pools"]

import data.schedlint.keys
import data.schedlint.result
import data.schedlint.tenants

report contains result.worded(rego.metadata.chain(), workload, {"reason": "outside-own-pools", "values": values}) if {
	some workload in input.workloads
	some tenant in input.params.tenants
	tenants.has(tenant, workload.namespace)
	count(tenant.pools) > 0
	outside := [pool | some pool in workload.pools; neither(tenant, workload.namespace, pool)]
	count(outside) + workload.usable_poolless > 0
	values := {"workload": workload.ref, "tenant": tenant.name, "pools": outside, "poolless": workload.usable_poolless}
}

# neither reports whether a pool is not the tenant's, and not known to be another tenant's.
neither(tenant, namespace, pool) if {
	not keys.matches(tenant.pools, pool)
	not tenants.foreign(input.params.tenants, namespace, pool)
}
