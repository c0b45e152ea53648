# METADATA
# title: A virtual machine that cannot migrate
# description: >-
#   A live migration starts a second pod of the machine on another node, under the same rules, while the
#   first still runs. The first pod counts, so machines that must stay apart need one domain more than there
#   are machines; a machine that must run next to another machine, or on a named node, never moves. Node
#   maintenance then requires a shutdown, and with evictionStrategy LiveMigrate the drain never completes.
#   Neither does a machine whose disk is a claim without ReadWriteMany or a hostDisk that is not shared, nor one
#   with a bridge on the pod network; this is reported with evictionStrategy LiveMigrate only. The disk needs a
#   claim with ReadWriteMany, and the interface masquerade.
#   Safest first: for keys other than kubernetes.io/hostname add mismatchLabelKeys: [kubevirt.io/created-by]
#   to the anti-affinity (from Kubernetes 1.31 on) so that a machine does not conflict with itself; add a
#   node; make the rule preferred; set evictionStrategy: LiveMigrateIfPossible.
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

report contains result.reason(rego.metadata.chain(), row, "vm-cannot-migrate") if {
	some row in input.migrations
	row.outcome in {"sometimes", "never"}
	row.device == ""
}

report contains result.reason(rego.metadata.chain(), row, "vm-cannot-migrate") if {
	some row in input.migrations
	row.outcome == "never"
	row.evicts
}
