package schedlint.rules["kubevirt.pinned-to-a-node_test"]

import data.schedlint.rules["kubevirt.pinned-to-a-node"] as subject

vm := {"id": 1, "ref": "VirtualMachine vms/db", "kind": "VirtualMachine", "node_rules": [{"id": 2, "source": "nodeSelector", "key": "kubernetes.io/hostname", "values": ["n1"]}], "machine": {"is": true, "eviction_strategy": "LiveMigrate"}}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "migrations": [], "params": {}}
}

# evicted is a machine with another eviction strategy.
evicted(strategy) := object.union(vm, {"machine": {"is": true, "eviction_strategy": strategy}})

# selected is a machine with another rule.
selected(source, key) := object.union(vm, {"node_rules": [{"id": 2, "source": source, "key": key, "values": ["n1"]}]})

test_reports if {
	reported(vm) == {{"reason": "pinned-to-a-node", "values": {"workload": "VirtualMachine vms/db", "node": "n1"}}}
}

test_stands_at_the_selector if {r.fact | some r in subject.report} == {2} with input as {"workloads": [vm], "migrations": [], "params": {}}

# stuck gives the rows that are reported where the migration of a machine has an outcome.
stuck(w, outcome) := rows if {
	rows := {r.fact | some r in subject.report} with input as {"workloads": [vm], "migrations": [{"w": w, "outcome": outcome}], "params": {}}
}

test_left_to_another_rule if {
	stuck(0, "never") == set()
	stuck(0, "sometimes") == set()
	stuck(1, "never") == {2}
	stuck(0, "unknown") == {2}
}

test_passes if reported(selected("nodeSelector", "disktype")) == set()

test_affinity_has_alternatives if reported(selected("nodeAffinity", "kubernetes.io/hostname")) == set()

test_other_strategies if reported(evicted("None")) == set()

test_unknown_is_silent if reported(object.union(vm, {"node_rules": []})) == set()
