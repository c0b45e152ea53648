package schedlint.rules["topology-key-on-no-node_test"]

import data.schedlint.rules["topology-key-on-no-node"] as subject

bad := {
	"id": 1,
	"w": 0,
	"use": "anti-affinity",
	"hard": true,
	"key": "topology.kubernetes.io/hostname",
	"declared": true,
	"usable": 6,
	"with": 0,
	"known": false,
	"suggestion": "kubernetes.io/hostname",
	"without": ["node-1", "node-2", "node-3"],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"topology_keys": [row]}
}

test_reports if {
	subject.report == {{"rule": "topology-key-on-no-node", "fact": 1, "reason": "topology-key-on-no-node"}} with input as {"topology_keys": [bad]}
}

test_passes if reported(object.union(bad, {"with": 6})) == set()

test_some_nodes_are_another_rule if reported(object.union(bad, {"with": 2})) == set()

test_unknown_is_silent if reported(object.union(bad, {"declared": false, "usable": 0})) == set()

test_no_usable_node_is_another_rule if reported(object.union(bad, {"usable": 0})) == set()

test_hard_affinity_is_another_rule if reported(object.union(bad, {"use": "affinity"})) == set()

test_hard_spread_is_another_rule if reported(object.union(bad, {"use": "spread"})) == set()

test_soft_affinity if {
	fact := object.union(bad, {"use": "affinity", "hard": false, "suggestion": ""})
	reported(fact) == {"topology-key-on-no-node"}
}

test_soft_spread if {
	fact := object.union(bad, {"use": "spread", "hard": false, "usable": 1, "suggestion": ""})
	reported(fact) == {"topology-key-on-no-node"}
}

test_soft_anti_affinity if {
	fact := object.union(bad, {"hard": false, "suggestion": ""})
	reported(fact) == {"topology-key-on-no-node"}
}

test_hard_rules_of_fragments if {
	every use in ["affinity", "spread"] {
		fact := object.union(bad, {"fragment": true, "use": use, "suggestion": ""})
		reported(fact) == {"topology-key-on-no-node"}
	}
}
