# METADATA
# title: A workload of which it is unknown whether its nodes can be drained
# description: >-
#   Whether the pods find another node in a drain depends on a variable, on nodes that a pool may or may not
#   have, or on more cases than the budget of steps covers, so it is not proved that an upgrade of the
#   nodes completes. schedlint place names the reason. Drains that are known to leave pods Pending, or to be
#   refused, are reported by drain-leaves-pods-pending, drain-blocked and vm-cannot-migrate.
# related_resources:
#   - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
# schemas:
#   - input: schema.facts
# custom:
#   category: advice
#   level: note
#   since: v0.1.0
#   tags: [upgrade]
package schedlint.rules["upgrade.drain-unknown"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), row, {"reason": "drain-unknown", "values": values}) if {
	input.cluster.nodes > 0
	some row in input.drains
	row.outcome == "unknown"
	values := {"workload": input.workloads[row.w].ref}
}
