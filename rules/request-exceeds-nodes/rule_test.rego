package schedlint.rules["request-exceeds-nodes_test"]

import data.schedlint.rules["request-exceeds-nodes"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"resource": "memory",
	"request": "64Gi",
	"largest": "32Gi",
	"largest_node": "node-1",
	"eligible": 6,
	"fitting": 0,
	"per_node": false,
	"suggestion": "",
	"together": [],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"requests": [row]}
}

test_reports if {
	subject.report == {{"rule": "request-exceeds-nodes", "fact": 1, "reason": "request-exceeds-nodes"}} with input as {"requests": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_no_node_has_any if {
	fact := object.union(bad, {"resource": "nvidia.com/gpu", "request": "1", "largest": "0", "largest_node": "", "eligible": 1})
	reported(fact) == {"request-exceeds-nodes"}
}

test_a_daemon_set_loses_a_pod_per_small_node if {
	fact := object.union(bad, {"resource": "cpu", "request": "2", "fitting": 4, "per_node": true})
	reported(fact) == {"request-exceeds-nodes"}
}

test_a_daemon_set_on_one_small_node if {
	fact := object.union(bad, {"resource": "cpu", "request": "2", "fitting": 5, "per_node": true})
	reported(fact) == {"request-exceeds-nodes"}
}
