package schedlint.rules["kubevirt.live-migrate-impossible_test"]

import data.schedlint.rules["kubevirt.live-migrate-impossible"] as subject

vm := {"id": 1, "ref": "VirtualMachine vms/db", "kind": "VirtualMachine", "answers": {"migrates": "never"}, "machine": {"is": true, "eviction_strategy": "LiveMigrate"}}

# reported gives the messages about one workload.
reported(workload) := messages if {
	messages := {r.said.message | some r in subject.report} with input as {"workloads": [workload], "params": {}}
}

# evicted is a machine with another eviction strategy.
evicted(strategy) := object.union(vm, {"machine": {"is": true, "eviction_strategy": strategy}})

# migrating is a machine with another answer.
migrating(answer) := object.union(vm, {"answers": {"migrates": answer}})

test_reports if {
	reported(vm) == {"VirtualMachine vms/db has evictionStrategy LiveMigrate and cannot migrate, so drains do not complete"}
}

test_sometimes if {
	reported(migrating("sometimes")) == {"VirtualMachine vms/db has evictionStrategy LiveMigrate and cannot migrate from every node, so drains do not complete"}
}

test_stands_at_the_strategy if {
	{r.said.path | some r in subject.report} == {["spec", "template", "spec", "evictionStrategy"]} with input as {"workloads": [vm]}
}

test_passes if reported(migrating("always")) == set()

test_other_strategies if reported(evicted("LiveMigrateIfPossible")) == set()

test_no_machine if reported(migrating("none")) == set()

test_unknown_is_silent if reported(migrating("unknown")) == set()
