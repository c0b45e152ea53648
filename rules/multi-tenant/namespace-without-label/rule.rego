# METADATA
# title: A tenant's namespace without its label
# description: >-
#   Namespace selectors of NetworkPolicies, quotas and admission policies find the namespaces of tenants
#   by a label. A namespace without it falls outside all of them. Add the label to the Namespace; the
#   parameter label names its key.
# related_resources:
#   - https://kubernetes.io/docs/concepts/security/multi-tenancy/
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
#       label:
#         description: key of the label that namespaces of tenants carry
#         type: string
#         default: tenant
package schedlint.rules["multi-tenant.namespace-without-label"]

import data.schedlint.result
import data.schedlint.tenants

report contains result.worded(rego.metadata.chain(), object, {"reason": "namespace-without-label", "values": values, "path": ["metadata", "labels"]}) if {
	some object in input.objects
	object.api_version == "v1"
	object.kind == "Namespace"
	some tenant in input.params.tenants
	tenants.has(tenant, object.name)
	not object.labels[input.params.label]
	values := {"namespace": object.name, "tenant": tenant.name, "label": input.params.label}
}
