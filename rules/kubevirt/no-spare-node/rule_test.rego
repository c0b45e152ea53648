package schedlint.rules["kubevirt.no-spare-node_test"]

import data.schedlint.rules["kubevirt.no-spare-node"] as subject

vm := {
	"id": 1, "ref": "VirtualMachinePool vms/db", "machine": {"is": true},
	"placement_known": true, "pods_min": 3, "usable_min": 3,
	"terms": [{"id": 2, "use": "anti-affinity", "hard": true, "key": "kubernetes.io/hostname", "matches_own": "always"}],
}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "migrations": [], "params": {"spare_nodes": 1}}
}

# apart is a set of machines with another term.
apart(use, hard, key, own) := object.union(vm, {"terms": [{"id": 2, "use": use, "hard": hard, "key": key, "matches_own": own}]})

test_reports if {
	reported(vm) == {{"reason": "no-spare-node", "values": {"workload": "VirtualMachinePool vms/db", "machines": 3, "usable": 3, "needed": 4, "spare": 1, "lacking": 1}}}
}

# stuck gives the rows that are reported where the migration of a machine has an outcome.
stuck(w, outcome) := rows if {
	rows := {r.fact | some r in subject.report} with input as {"workloads": [vm], "migrations": [{"w": w, "outcome": outcome}], "params": {"spare_nodes": 1}}
}

test_left_to_another_rule if {
	stuck(0, "never") == set()
	stuck(0, "sometimes") == set()
	stuck(1, "never") == {2}
	stuck(0, "unknown") == {2}
}

test_passes if reported(object.union(vm, {"usable_min": 4})) == set()

test_other_terms if {
	reported(apart("affinity", true, "kubernetes.io/hostname", "always")) == set()
	reported(apart("anti-affinity", false, "kubernetes.io/hostname", "always")) == set()
	reported(apart("anti-affinity", true, "topology.kubernetes.io/zone", "always")) == set()
	reported(apart("anti-affinity", true, "kubernetes.io/hostname", "never")) == set()
}

test_no_machine if reported(object.union(vm, {"machine": {"is": false}})) == set()

test_unknown_is_silent if {
	reported(object.union(vm, {"placement_known": false, "usable_min": 0})) == set()
	reported(apart("anti-affinity", true, "kubernetes.io/hostname", "unknown")) == set()
}
