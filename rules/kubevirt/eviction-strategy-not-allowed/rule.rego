# METADATA
# title: A machine with an eviction strategy that is not allowed
# description: >-
#   The parameter allowed lists what a drain may do to machines. With None a drain shuts the machine down
#   without a migration; with External something else has to move it. Set a strategy of the list.
# related_resources:
#   - https://kubevirt.io/user-guide/cluster_admin/node_maintenance/
# schemas:
#   - input: schema.facts
# custom:
#   category: policy
#   level: warning
#   since: v0.1.0
#   tags: [kubevirt]
#   params:
#     type: object
#     properties:
#       allowed:
#         description: the eviction strategies that machines may have
#         type: array
#         minItems: 1
#         default: [LiveMigrate, LiveMigrateIfPossible]
#         items: {type: string, enum: [LiveMigrate, LiveMigrateIfPossible, External, None]}
package schedlint.rules["kubevirt.eviction-strategy-not-allowed"]

import data.schedlint.machines
import data.schedlint.result

report contains result.worded(rego.metadata.chain(), workload, {"reason": "eviction-strategy-not-allowed", "values": values, "path": path}) if {
	some workload in input.workloads
	strategy := workload.machine.eviction_strategy
	strategy in {"None", "External", "LiveMigrate", "LiveMigrateIfPossible"}
	not strategy in input.params.allowed
	values := {"workload": workload.ref, "strategy": strategy, "allowed": input.params.allowed}
	path := machines.path(workload.kind, "evictionStrategy")
}
