package schedlint.rules["kubevirt.budget-without-scale_test"]

import data.schedlint.rules["kubevirt.budget-without-scale"] as subject

vm := {
	"id": 1, "ref": "VirtualMachinePool vms/db", "machine": {"is": true},
	"budgets": [{"id": 2, "selects": "always", "ref": "PodDisruptionBudget vms/db", "amount": {"field": "maxUnavailable", "value": "1"}}],
}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {}}
}

# guarded is a set of machines with another budget.
guarded(field, value) := object.union(vm, {"id": 1, "budgets": [{"id": 2, "selects": "always", "ref": "PodDisruptionBudget vms/db", "amount": {"field": field, "value": value}}]})

test_reports if {
	reported(vm) == {{"reason": "budget-without-scale", "values": {"budget": "PodDisruptionBudget vms/db", "workload": "VirtualMachinePool vms/db", "field": "maxUnavailable", "value": "1"}}}
}

test_percentage if count(reported(guarded("minAvailable", "50%"))) == 1

test_passes if reported(guarded("minAvailable", "2")) == set()

test_nothing_demanded if reported(guarded("", "")) == set()

test_no_machine if reported(object.union(vm, {"machine": {"is": false}})) == set()

test_unknown_is_silent if {
	reported(object.union(vm, {"budgets": []})) == set()
	reported(object.union(vm, {"id": 1, "budgets": [{"id": 2, "selects": "unknown", "ref": "PodDisruptionBudget vms/db", "amount": {"field": "maxUnavailable", "value": "1"}}]})) == set()
}
