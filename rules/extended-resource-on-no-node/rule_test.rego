package schedlint.rules["extended-resource-on-no-node_test"]

import data.schedlint.rules["extended-resource-on-no-node"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "unknown",
	"resource": "example.com/gpus",
	"request": "2",
	"largest": "0",
	"largest_node": "",
	"eligible": 3,
	"fitting": 0,
	"per_node": false,
	"unlisted": true,
	"suggestion": "example.com/gpu",
	"together": [],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"requests": [row]}
}

test_reports if {
	subject.report == {{"rule": "extended-resource-on-no-node", "fact": 1, "reason": "extended-resource-on-no-node"}} with input as {"requests": [bad]}
}

test_no_name_is_near if {
	reported(object.union(bad, {"suggestion": ""})) == {"extended-resource-on-no-node"}
}

test_passes if reported(object.union(bad, {"outcome": "always", "unlisted": false})) == set()

test_infeasible_is_another_rule if reported(object.union(bad, {"outcome": "never", "unlisted": false})) == set()
