package schedlint.rules["kubevirt.migration-needs-new-node_test"]

import data.schedlint.rules["kubevirt.migration-needs-new-node"] as subject

vm := {"id": 1, "ref": "VirtualMachine vms/db", "kind": "VirtualMachine", "usable_min": 1, "growable": true, "pools": ["big"], "machine": {"is": true, "eviction_strategy": "LiveMigrate"}}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {}}
}

# evicted is a machine with another eviction strategy.
evicted(strategy) := object.union(vm, {"machine": {"is": true, "eviction_strategy": strategy}})

test_reports if {
	reported(vm) == {{"reason": "migration-needs-new-node", "values": {"workload": "VirtualMachine vms/db", "pools": ["big"]}}}
}

test_passes if reported(object.union(vm, {"usable_min": 2})) == set()

test_cannot_grow if reported(object.union(vm, {"growable": false})) == set()

test_other_strategies if reported(evicted("None")) == set()

test_unknown_is_silent if reported(object.union(vm, {"usable_min": 0})) == set()
