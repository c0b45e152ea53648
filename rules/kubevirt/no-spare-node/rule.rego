# METADATA
# title: Machines kept apart without a spare node
# description: >-
#   Required anti-affinity keeps these machines on different nodes, and a migration needs a node that none
#   of them is on. With one spare node each machine can migrate; with two, also while a node is down.
#   Pools that can grow count with the nodes they have. Machines that cannot migrate at all are left to
#   vm-cannot-migrate. Add nodes, or make the anti-affinity preferred.
# related_resources:
#   - https://kubevirt.io/user-guide/compute/live_migration/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [kubevirt]
#   params:
#     type: object
#     properties:
#       spare_nodes:
#         description: number of usable nodes beyond one for each machine
#         type: integer
#         minimum: 1
#         default: 1
package schedlint.rules["kubevirt.no-spare-node"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), term, {"reason": "no-spare-node", "values": values}) if {
	some w, workload in input.workloads
	not w in stuck
	workload.machine.is
	workload.placement_known
	some term in workload.terms
	term.use == "anti-affinity"
	term.hard
	term.key == "kubernetes.io/hostname"
	term.matches_own == "always"
	needed := workload.pods_min + input.params.spare_nodes
	workload.usable_min < needed
	values := {
		"workload": workload.ref, "machines": workload.pods_min, "usable": workload.usable_min,
		"needed": needed, "spare": input.params.spare_nodes, "lacking": needed - workload.usable_min,
	}
}

# stuck are the machines that vm-cannot-migrate reports.
stuck := {row.w | some row in input.migrations; row.outcome in {"sometimes", "never"}}
