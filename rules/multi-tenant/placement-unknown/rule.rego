# METADATA
# title: A workload whose pools are unknown
# description: >-
#   The pods can use nodes that depend on a variable, on another scheduler or on a field that the API
#   server rejects, so it is not proved that tenants are apart. Give the variable a value, or keep the
#   pods off the pools of tenants by taints, which multi-tenant.tenant-pool-untainted requires.
# related_resources:
#   - https://kubernetes.io/docs/concepts/security/multi-tenancy/
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
# schemas:
#   - input: schema.facts
# custom:
#   category: advice
#   level: note
#   since: v0.1.0
#   tags: [multi-tenant]
#   params:
#     type: object
#     properties:
#       platform_namespaces:
#         description: globs of namespaces whose workloads may run on the pools of all tenants
#         type: array
#         default: [kube-system]
#         items: {type: string}
package schedlint.rules["multi-tenant.placement-unknown"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "placement-unknown", "values": values}) if {
	some workload in input.workloads
	not workload.placement_known
	not keys.listed(input.params.platform_namespaces, workload.namespace)
	values := {"workload": workload.ref}
}
