# METADATA
# title: A machine that must live-migrate and is pinned to a node
# description: >-
#   A nodeSelector for kubernetes.io/hostname leaves the machine one node, so it can never migrate, and
#   with evictionStrategy LiveMigrate a drain of that node never completes. This holds whatever nodes
#   there are; with declared nodes vm-cannot-migrate says so, and this rule is silent. Select nodes by a
#   label that several have, or set evictionStrategy to None or LiveMigrateIfPossible.
# related_resources:
#   - https://kubevirt.io/user-guide/cluster_admin/node_maintenance/
#   - https://kubevirt.io/user-guide/compute/live_migration/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [kubevirt]
package schedlint.rules["kubevirt.pinned-to-a-node"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), selector, {"reason": "pinned-to-a-node", "values": values}) if {
	some w, workload in input.workloads
	not w in stuck
	workload.machine.eviction_strategy == "LiveMigrate"
	some selector in workload.node_rules
	selector.source == "nodeSelector"
	selector.key == "kubernetes.io/hostname"
	values := {"workload": workload.ref, "node": concat("", selector.values)}
}

# stuck are the machines that vm-cannot-migrate reports.
stuck := {row.w | some row in input.migrations; row.outcome in {"sometimes", "never"}}
