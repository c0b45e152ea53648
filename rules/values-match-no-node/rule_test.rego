package schedlint.rules["values-match-no-node_test"]

import data.schedlint.rules["values-match-no-node"] as subject

bad := {
	"id": 1,
	"object": "HelmRelease shop/db, values master",
	"where": "nodeSelector",
	"nodes": 3,
	"matching": 0,
	"key": "disk",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"node_matches": [row]}
}

test_reports if {
	subject.report == {{"rule": "values-match-no-node", "fact": 1, "reason": "values-match-no-node"}} with input as {"node_matches": [bad]}
}

test_passes if reported(object.union(bad, {"matching": 1})) == set()

test_without_nodes if reported(object.union(bad, {"nodes": 0})) == set()

test_together if reported(object.union(bad, {"where": "nodeAffinity", "key": ""})) == {"values-match-no-node"}
