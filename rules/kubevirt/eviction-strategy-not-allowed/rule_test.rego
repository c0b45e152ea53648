package schedlint.rules["kubevirt.eviction-strategy-not-allowed_test"]

import data.schedlint.rules["kubevirt.eviction-strategy-not-allowed"] as subject

vm := {"id": 1, "ref": "VirtualMachine vms/db", "kind": "VirtualMachine", "machine": {"is": true, "eviction_strategy": "None"}}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {"allowed": ["LiveMigrate", "External"]}}
}

# evicted is a machine with another eviction strategy.
evicted(strategy) := object.union(vm, {"machine": {"is": true, "eviction_strategy": strategy}})

test_reports if reported(vm) == {{"reason": "eviction-strategy-not-allowed", "values": {"workload": "VirtualMachine vms/db", "strategy": "None", "allowed": ["LiveMigrate", "External"]}, "path": ["spec", "template", "spec", "evictionStrategy"]}}

test_stands_at_the_strategy if {
	paths := [
		["VirtualMachine", "spec.template.spec.evictionStrategy"],
		["VirtualMachineInstanceReplicaSet", "spec.template.spec.evictionStrategy"],
		["VirtualMachinePool", "spec.virtualMachineTemplate.spec.template.spec.evictionStrategy"],
		["VirtualMachineInstance", "spec.evictionStrategy"],
	]
	every pair in paths {
		[kind, path] := pair
		workload := object.union(vm, {"kind": kind})
		said := {concat(".", r.given.path) | some r in subject.report} with input as {"workloads": [workload], "params": {"allowed": []}}
		said == {path}
	}
}

test_passes if reported(evicted("External")) == set()

test_missing_is_another_rule if reported(evicted("")) == set()

test_unknown_is_silent if reported(evicted("${STRATEGY}")) == set()
