package schedlint.rules["kubevirt.eviction-strategy-missing_test"]

import data.schedlint.rules["kubevirt.eviction-strategy-missing"] as subject

vm := {"id": 1, "ref": "VirtualMachine vms/db", "kind": "VirtualMachine", "known": true, "machine": {"is": true, "eviction_strategy": ""}}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {}}
}

# evicted is a machine with another eviction strategy.
evicted(strategy) := object.union(vm, {"machine": {"is": true, "eviction_strategy": strategy}})

test_reports if reported(vm) == {{"reason": "eviction-strategy-missing", "values": {"workload": "VirtualMachine vms/db"}}}

test_passes if reported(evicted("None")) == set()

test_no_machine if reported(object.union(vm, {"machine": {"is": false, "eviction_strategy": ""}})) == set()

test_unknown_is_silent if reported(object.union(vm, {"known": false})) == set()
