# METADATA
# title: A toleration of every taint
# description: >-
#   A toleration with operator Exists and no key lets the pods use every tainted node, the pools of all
#   tenants included, and every pool that will be added. Name the taints instead. Agents that run on every
#   node, such as the DaemonSets of the network plugin, need it: list their namespaces in
#   agent_namespaces.
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
#       agent_namespaces:
#         description: globs of namespaces whose DaemonSets may tolerate every taint
#         type: array
#         default: [kube-system]
#         items: {type: string}
package schedlint.rules["multi-tenant.tolerates-every-taint"]

import data.schedlint.keys
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), toleration, {"reason": "tolerates-every-taint", "values": values}) if {
	some workload in input.workloads
	not agent(workload.per_node, workload.namespace)
	some toleration in workload.tolerations
	toleration.key == ""
	toleration.operator == "Exists"
	toleration.effect in {"", "NoSchedule"}
	values := {"workload": workload.ref, "effect": toleration.effect}
}

# agent reports whether pods are those of an agent that has to run on every node.
agent(true, namespace) if keys.listed(input.params.agent_namespaces, namespace)

agent(true, namespace) if not keys.named(namespace)
