# METADATA
# title: A node preference that matches no node
# description: >-
#   Preferred node affinity only scores nodes, so an expression that no declared node meets has no effect,
#   and nothing says so: often a misspelt label, or one of another cluster. Correct the label or remove
#   the preference. The nodes by which pools can grow count as well.
# related_resources:
#   - https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: ineffective
#   since: v0.1.0
#   tags: [node-pools]
package schedlint.rules["node-pools.preference-matches-no-node"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), expression, {"reason": "preference-matches-no-node", "values": values}) if {
	some workload in input.workloads
	workload.placement_known
	some expression in workload.node_rules
	not expression.hard
	expression.nodes_max == 0
	values := {"workload": workload.ref, "key": expression.key, "operator": expression.operator, "wanted": expression.values}
}
