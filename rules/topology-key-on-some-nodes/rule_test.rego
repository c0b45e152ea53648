package schedlint.rules["topology-key-on-some-nodes_test"]

import data.schedlint.rules["topology-key-on-some-nodes"] as subject

bad := {
	"id": 1,
	"w": 0,
	"use": "anti-affinity",
	"hard": true,
	"key": "topology.kubernetes.io/rack",
	"declared": true,
	"usable": 6,
	"with": 3,
	"known": false,
	"suggestion": "",
	"without": ["node-1", "node-2", "node-3"],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"topology_keys": [row]}
}

test_reports if {
	subject.report == {{"rule": "topology-key-on-some-nodes", "fact": 1, "reason": "topology-key-on-some-nodes"}} with input as {"topology_keys": [bad]}
}

test_passes if reported(object.union(bad, {"with": 6})) == set()

test_no_node_is_another_rule if reported(object.union(bad, {"with": 0})) == set()

test_unknown_is_silent if reported(object.union(bad, {"declared": false, "usable": 0, "with": 0})) == set()

test_hard_spread_counts_domains_elsewhere if reported(object.union(bad, {"use": "spread"})) == set()

test_hard_affinity_demands_the_label if reported(object.union(bad, {"use": "affinity"})) == set()

test_more_than_are_named if {
	fact := object.union(bad, {"use": "spread", "hard": false, "usable": 9})
	reported(fact) == {"topology-key-on-some-nodes"}
}

test_one_node if {
	fact := object.union(bad, {"use": "affinity", "hard": false, "with": 5, "without": ["node-1"]})
	reported(fact) == {"topology-key-on-some-nodes"}
}

test_soft_anti_affinity if {
	fact := object.union(bad, {"hard": false, "suggestion": "topology.kubernetes.io/zone"})
	reported(fact) == {"topology-key-on-some-nodes"}
}
