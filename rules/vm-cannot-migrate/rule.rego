# METADATA
# title: A virtual machine that cannot migrate
# description: >-
#   A live migration starts a second pod of the same machine on another node, with the same rules, while the
#   first runs on. The first one counts, so machines that have to stay apart need one domain more than there
#   are machines; one that must be beside another machine, or on a node by name, never moves. Maintenance of
#   its node then means to shut it down, and with evictionStrategy LiveMigrate the drain waits for ever. In
#   the order of safety: for keys other than kubernetes.io/hostname add mismatchLabelKeys:
#   [kubevirt.io/created-by] to the anti-affinity, so a machine does not avoid itself; add a node; make the
#   rule preferred; set evictionStrategy: LiveMigrateIfPossible.
# related_resources:
#   - https://kubevirt.io/user-guide/compute/live_migration/
#   - https://github.com/kubevirt/kubevirt/issues/5565
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["vm-cannot-migrate"]

import data.schedlint.result
import data.schedlint.text

report contains result.diagnostic(rego.metadata.chain(), fact, message) if {
	some fact in input.migrations
	why := "the second pod has to find a node beside the first"
	message := text.line(fact.workload, [who(fact), why, text.room(fact), drain[fact.evicts]])
}

who(fact) := {"never": "it cannot migrate while it runs", "sometimes": "it may be unable to migrate while it runs"}[fact.ending] if {
	fact.machines == 1
}

who(fact) := sprintf(
	{
		"never": "none of its %d machines can migrate while it runs",
		"sometimes": "its %d machines may be unable to migrate while they run",
	}[fact.ending],
	[fact.machines],
) if fact.machines > 1

drain := {false: "", true: "its evictionStrategy LiveMigrate then blocks a drain"}
