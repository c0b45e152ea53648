# METADATA
# title: A machine that migrates only if a pool grows
# description: >-
#   One declared node alone passes the rules of this machine, so with evictionStrategy LiveMigrate a drain
#   of that node waits until an autoscaler has added another one; KubeVirt gives up a migration whose
#   target pod stays unschedulable for five minutes, and then tries again. Add a node that the machine may
#   use, or start the pool with two.
# related_resources:
#   - https://kubevirt.io/user-guide/cluster_admin/node_maintenance/
#   - https://kubevirt.io/user-guide/compute/live_migration/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [kubevirt]
package schedlint.rules["kubevirt.migration-needs-new-node"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "migration-needs-new-node", "values": values}) if {
	some workload in input.workloads
	workload.machine.eviction_strategy == "LiveMigrate"
	workload.usable_min == 1
	workload.growable
	values := {"workload": workload.ref, "pools": workload.pools}
}
