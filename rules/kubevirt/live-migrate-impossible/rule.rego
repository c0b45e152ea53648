# METADATA
# title: A machine that must live-migrate and cannot
# description: >-
#   With evictionStrategy LiveMigrate an eviction waits until the machine has moved to another node. This
#   machine cannot move from at least one node that it may be on, so the drain of that node never
#   completes. Correct the rules that keep the second pod from starting, which vm-cannot-migrate explains,
#   or set LiveMigrateIfPossible, with which the machine is shut down instead.
# related_resources:
#   - https://kubevirt.io/user-guide/cluster_admin/node_maintenance/
#   - https://kubevirt.io/user-guide/compute/live_migration/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [kubevirt]
package schedlint.rules["kubevirt.live-migrate-impossible"]

import data.schedlint.machines
import data.schedlint.result

report contains result.finding(rego.metadata.chain(), workload, {"message": message, "help": help, "path": path}) if {
	some workload in input.workloads
	workload.machine.eviction_strategy == "LiveMigrate"
	when := {"never": "cannot migrate", "sometimes": "cannot migrate from every node"}[workload.answers.migrates]
	message := sprintf("%s has evictionStrategy LiveMigrate and %s, so drains do not complete", [workload.ref, when])
	help := "set evictionStrategy: LiveMigrateIfPossible, or let its pods start on another node"
	path := machines.path(workload.kind, "evictionStrategy")
}
