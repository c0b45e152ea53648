package schedlint.rules["empty-node-selector-term_test"]

import data.schedlint.rules["empty-node-selector-term"] as subject

bad := {
	"id": 1,
	"w": 0,
	"hard": true,
	"empty": true,
	"others": 0,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"node_terms": [row]}
}

test_reports if {
	subject.report == {{"rule": "empty-node-selector-term", "fact": 1, "reason": "empty-node-selector-term"}} with input as {"node_terms": [bad]}
}

test_passes if reported(object.union(bad, {"empty": false})) == set()

test_beside_others if {
	fact := object.union(bad, {"others": 2})
	reported(fact) == {"empty-node-selector-term"}
}

test_beside_one_other if {
	fact := object.union(bad, {"others": 1})
	reported(fact) == {"empty-node-selector-term"}
}

test_soft if {
	fact := object.union(bad, {"hard": false, "others": 1})
	reported(fact) == {"empty-node-selector-term"}
}
