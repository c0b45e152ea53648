package schedlint.rules["node-pools.preference-matches-no-node_test"]

import data.schedlint.rules["node-pools.preference-matches-no-node"] as subject

# reported gives the findings about a workload with one expression.
reported(known, hard, expression, nodes) := findings if {
	findings := {r.given | some r in subject.report} with input as {
		"workloads": [{"id": 1, "ref": "Deployment shop/web", "placement_known": known, "node_rules": [{
			"id": 2, "hard": hard, "nodes_max": nodes,
			"key": expression[0], "operator": expression[1], "values": array.slice(expression, 2, 9),
		}]}],
		"params": {},
	}
}

ssd := ["disktype", "In", "ssd", "nvme"]

found := {"reason": "preference-matches-no-node", "values": {"workload": "Deployment shop/web", "key": "disktype", "operator": "In", "wanted": ["ssd", "nvme"]}}

test_reports if {
	reported(true, false, ssd, 0) == {found}
}

test_without_values if {
	reported(true, false, ["disktype", "Exists"], 0) == {object.union(found, {"values": {"operator": "Exists", "wanted": []}})}
}

test_passes if reported(true, false, ssd, 1) == set()

test_required_is_another_rule if reported(true, true, ssd, 0) == set()

test_unknown_is_silent if reported(false, false, ssd, 0) == set()
