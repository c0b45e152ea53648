package schedlint.rules["capacity.priority-class-undeclared_test"]

import data.schedlint.rules["capacity.priority-class-undeclared"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "kind": "Deployment", "machine": {"is": false}, "priority_class": "high", "priority_class_declared": "never"}

# reported gives the findings about the workload after a change.
reported(change, known) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [object.union(web, change)], "params": {"known": known}}
}

test_reports if {
	found := {"reason": "priority-class-undeclared", "values": {"workload": "Deployment shop/web", "class": "high"}, "path": ["spec", "template", "spec", "priorityClassName"]}
	reported({}, ["low"]) == {found}
}

test_reports_machines_at_the_field if {
	{finding.path | some finding in reported({"kind": "VirtualMachine", "machine": {"is": true}}, [])} == {["spec", "template", "spec", "priorityClassName"]}
	{finding.path | some finding in reported({"kind": "VirtualMachineInstance", "machine": {"is": true}}, [])} == {["spec", "priorityClassName"]}
}

test_known if reported({}, ["hi*"]) == set()

test_passes if reported({"priority_class_declared": "always"}, []) == set()

test_unknown_is_silent if reported({"priority_class_declared": "unknown"}, []) == set()
