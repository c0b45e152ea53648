# METADATA
# title: A toleration that opens another tenant's pool
# description: >-
#   Without this toleration the pods cannot use a pool that belongs to a tenant which the workload does
#   not belong to. Remove it, or limit it to the taint of the tenant's own pools.
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
package schedlint.rules["multi-tenant.toleration-opens-foreign-pool"]

import data.schedlint.keys
import data.schedlint.result
import data.schedlint.tenants

report contains result.worded(rego.metadata.chain(), toleration, {"reason": "toleration-opens-foreign-pool", "values": values}) if {
	some workload in input.workloads
	not keys.listed(input.params.platform_namespaces, workload.namespace)
	some toleration in workload.tolerations
	foreign := [pool | some pool in toleration.pools; tenants.foreign(input.params.tenants, workload.namespace, pool)]
	count(foreign) > 0
	values := {"workload": workload.ref, "pools": foreign}
}
