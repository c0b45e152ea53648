package schedlint.rules["deprecated-node-label_test"]

import data.schedlint.rules["deprecated-node-label"] as subject

bad := {
	"id": 1,
	"w": 0,
	"where": "nodeSelector",
	"key": "beta.kubernetes.io/os",
	"deprecated": true,
	"replacement": "kubernetes.io/os",
	"on_nodes": 0,
	"beside": false,
	"platform": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"node_labels": [row]}
}

test_reports if {
	subject.report == {{"rule": "deprecated-node-label", "fact": 1, "reason": "deprecated-node-label"}} with input as {"node_labels": [bad]}
}

test_passes if reported(object.union(bad, {"deprecated": false})) == set()

test_nodes_carry_it_all_the_same if reported(object.union(bad, {"on_nodes": 2})) == set()

test_no_replacement if {
	fact := object.union(bad, {"replacement": ""})
	reported(fact) == {"deprecated-node-label"}
}

test_silent_beside_its_replacement if reported(object.union(bad, {"beside": true})) == set()

test_silent_where_a_platform_sets_it if reported(object.union(bad, {"platform": "OpenShift"})) == set()
