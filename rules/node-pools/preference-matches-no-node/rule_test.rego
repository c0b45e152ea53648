package schedlint.rules["node-pools.preference-matches-no-node_test"]

import data.schedlint.rules["node-pools.preference-matches-no-node"] as subject

# reported gives the messages about a workload with one expression.
reported(known, hard, expression, nodes) := messages if {
	messages := {r.said.message | some r in subject.report} with input as {
		"workloads": [{"id": 1, "ref": "Deployment shop/web", "placement_known": known, "node_rules": [{
			"id": 2, "hard": hard, "nodes": nodes,
			"key": expression[0], "operator": expression[1], "values": array.slice(expression, 2, 9),
		}]}],
		"pools": [
			{"id": 3, "count": 2, "labels": {"tier": "web"}, "zones": ["a", "b"]},
			{"id": 4, "count": 0, "labels": {"spot": "true"}, "zones": ["c"]},
		],
		"params": {},
	}
}

ssd := ["disktype", "In", "ssd", "nvme"]

test_reports if {
	reported(true, false, ssd, 0) == {"Deployment shop/web prefers nodes by disktype In (ssd, nvme), which no declared node meets"}
}

test_without_values if {
	reported(true, false, ["disktype", "Exists"], 0) == {"Deployment shop/web prefers nodes by disktype Exists, which no declared node meets"}
}

test_passes if reported(true, false, ssd, 1) == set()

test_required_is_another_rule if reported(true, true, ssd, 0) == set()

test_pool_without_nodes if reported(true, false, ["spot", "Exists"], 0) == set()

test_pool_with_nodes if count(reported(true, false, ["tier", "In", "db"], 0)) == 1

test_zone_to_grow_into if reported(true, false, ["topology.kubernetes.io/zone", "In", "d", "c"], 0) == set()

test_unknown_is_silent if reported(false, false, ssd, 0) == set()
