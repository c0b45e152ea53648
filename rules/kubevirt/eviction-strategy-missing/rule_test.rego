package schedlint.rules["kubevirt.eviction-strategy-missing_test"]

import data.schedlint.rules["kubevirt.eviction-strategy-missing"] as subject

vm := {"id": 1, "ref": "VirtualMachine vms/db", "kind": "VirtualMachine", "known": true, "machine": {"is": true, "eviction_strategy": ""}}

# reported gives the messages about one workload.
reported(workload) := messages if {
	messages := {r.said.message | some r in subject.report} with input as {"workloads": [workload], "params": {}}
}

# evicted is a machine with another eviction strategy.
evicted(strategy) := object.union(vm, {"machine": {"is": true, "eviction_strategy": strategy}})

test_reports if reported(vm) == {"VirtualMachine vms/db has no evictionStrategy, so the cluster decides what a drain does to it"}

test_passes if reported(evicted("None")) == set()

test_no_machine if reported(object.union(vm, {"machine": {"is": false, "eviction_strategy": ""}})) == set()

test_unknown_is_silent if reported(object.union(vm, {"known": false})) == set()
