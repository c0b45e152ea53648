# METADATA
# title: A workload that can use another tenant's pool
# description: >-
#   Pods of this workload may land on nodes that are reserved for a tenant which it does not belong to, so
#   the tenant shares these nodes. Taint the pool, let only its tenant tolerate the taint, or keep the
#   workload off it with required node affinity. Pools that a single toleration opens are left to
#   multi-tenant.toleration-opens-foreign-pool.
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
#       platform_namespaces:
#         description: globs of namespaces whose workloads may run on the pools of all tenants
#         type: array
#         default: [kube-system]
#         items: {type: string}
package schedlint.rules["multi-tenant.uses-foreign-pool"]

import data.schedlint.keys
import data.schedlint.result
import data.schedlint.tenants

report contains result.worded(rego.metadata.chain(), workload, {"reason": "uses-foreign-pool", "values": values}) if {
	some workload in input.workloads
	not keys.listed(input.params.platform_namespaces, workload.namespace)
	opened := {pool | some toleration in workload.tolerations; some pool in toleration.pools}
	closed := [pool | some pool in workload.pools; not pool in opened]
	foreign := [pool | some pool in closed; tenants.foreign(input.params.tenants, workload.namespace, pool)]
	count(foreign) > 0
	values := {"workload": workload.ref, "pools": foreign}
}
