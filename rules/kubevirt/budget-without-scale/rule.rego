# METADATA
# title: A budget of machines that needs their number
# description: >-
#   For maxUnavailable, and for a percentage, the disruption controller asks the owner of each pod for its
#   number of replicas. The owner of a machine's pod is a VirtualMachineInstance, which has none, so the
#   budget allows no disruption at all and drains do not complete. Use minAvailable with a number of pods.
# related_resources:
#   - https://kubernetes.io/docs/tasks/run-application/configure-pdb/#arbitrary-controllers-and-selectors
#   - https://kubevirt.io/user-guide/cluster_admin/node_maintenance/
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
#   tags: [kubevirt]
package schedlint.rules["kubevirt.budget-without-scale"]

import data.schedlint.result

report contains result.worded(rego.metadata.chain(), budget, {"reason": "budget-without-scale", "values": values}) if {
	some workload in input.workloads
	workload.machine.is
	some budget in workload.budgets
	budget.selects == "always"
	unscaled(budget.amount)
	values := {"budget": budget.ref, "workload": workload.ref, "field": budget.amount.field, "value": budget.amount.value}
}

unscaled(amount) if amount.field == "maxUnavailable"

unscaled(amount) if endswith(amount.value, "%")
