package schedlint.rules["upgrade.node-name-set_test"]

import data.schedlint.rules["upgrade.node-name-set"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "kind": "Deployment", "machine": {"is": false}, "node_name": "n1"}

# reported gives the findings about the workload after a change.
reported(change) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [object.union(web, change)]}
}

# paths are where the findings about the workload are after a change.
paths(change) := {finding.path | some finding in reported(change)}

test_reports if {
	found := {"reason": "node-name-set", "values": {"workload": "Deployment shop/web", "node": "n1"}, "path": ["spec", "template", "spec", "nodeName"]}
	reported({}) == {found}
}

test_reports_at_the_field if {
	paths({"kind": "Pod"}) == {["spec", "nodeName"]}
	paths({"kind": "CronJob"}) == {["spec", "jobTemplate", "spec", "template", "spec", "nodeName"]}
	paths({"kind": "VirtualMachineInstance", "machine": {"is": true}}) == {["spec", "nodeName"]}
}

test_passes if reported({"node_name": ""}) == set()

test_unknown_is_silent if reported({"node_name": "${NODE}"}) == set()
