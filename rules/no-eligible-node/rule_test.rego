package schedlint.rules["no-eligible-node_test"]

import data.schedlint.rules["no-eligible-node"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"pods": 3,
	"nodes": 6,
	"eligible": 0,
	"bound": "",
	"volumes": [],
	"excluded": [{"reason": "lacks-label", "key": "disktype", "value": "ssd", "has": "", "effect": "", "operator": "", "values": [], "resource": "", "nodes": 4, "names": ["n1", "n2", "n3"]}, {"reason": "tainted", "key": "gpu", "value": "", "has": "", "effect": "NoSchedule", "operator": "", "values": [], "resource": "", "nodes": 2, "names": ["n5", "n6"]}],
	"more_excluded": 0,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"eligibility": [row]}
}

test_reports if {
	subject.report == {{"rule": "no-eligible-node", "fact": 1, "reason": "no-eligible-node"}} with input as {"eligibility": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_volumes_are_another_rule if reported(object.union(bad, {"volumes": [{}]})) == set()

test_unknown_number if {
	fact := object.union(bad, {"pods": 0, "excluded": [], "more_excluded": 0})
	reported(fact) == {"no-eligible-node"}
}

test_one_pod if {
	fact := object.union(bad, {"pods": 1, "excluded": [], "more_excluded": 0})
	reported(fact) == {"no-eligible-node"}
}

test_undeclared_node if {
	fact := object.union(bad, {"bound": "undeclared", "excluded": [{"reason": "undeclared", "key": "", "value": "w9", "has": "", "effect": "", "operator": "", "values": [], "resource": "", "nodes": 0, "names": []}], "more_excluded": 0})
	reported(fact) == {"no-eligible-node"}
}

test_one_undeclared if {
	fact := object.union(bad, {"bound": "undeclared", "pods": 1, "excluded": [], "more_excluded": 0})
	reported(fact) == {"no-eligible-node"}
}

test_declared_node if {
	fact := object.union(bad, {"bound": "declared", "pods": 2, "excluded": [{"reason": "lacks-label", "key": "disktype", "value": "ssd", "has": "", "effect": "", "operator": "", "values": [], "resource": "", "nodes": 1, "names": ["n1"]}], "more_excluded": 0})
	reported(fact) == {"no-eligible-node"}
}
