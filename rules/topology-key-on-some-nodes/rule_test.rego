package schedlint.rules["topology-key-on-some-nodes_test"]

import data.schedlint.rules["topology-key-on-some-nodes"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
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

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"topology_keys": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 3 of the 6 eligible nodes have no label topology.kubernetes.io/rack (node-1, node-2, node-3), so the required anti-affinity does not keep pods apart there"
	details := []
	subject.report == {{"rule": "topology-key-on-some-nodes", "fact": 1, "message": message, "details": details}} with input as {"topology_keys": [bad]}
}

test_passes if said(object.union(bad, {"with": 6})) == set()

test_no_node_is_another_rule if said(object.union(bad, {"with": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"declared": false})) == set()

test_hard_spread_counts_domains_elsewhere if said(object.union(bad, {"use": "spread"})) == set()

test_hard_affinity_demands_the_label if said(object.union(bad, {"use": "affinity"})) == set()

test_more_than_are_named if {
	fact := object.union(bad, {"use": "spread", "hard": false, "usable": 9})
	said(fact) == {"Deployment shop/web: 6 of the 9 eligible nodes have no label topology.kubernetes.io/rack (node-1, node-2, node-3 and 3 more), so the ScheduleAnyway constraint has no effect there"}
}

test_one_node if {
	fact := object.union(bad, {"use": "affinity", "hard": false, "with": 5, "without": ["node-1"]})
	said(fact) == {"Deployment shop/web: 1 of the 6 eligible nodes has no label topology.kubernetes.io/rack (node-1), so the preferred affinity has no effect there"}
}

test_soft_anti_affinity if {
	fact := object.union(bad, {"hard": false, "suggestion": "topology.kubernetes.io/zone"})
	said(fact) == {"Deployment shop/web: 3 of the 6 eligible nodes have no label topology.kubernetes.io/rack (node-1, node-2, node-3), so the preferred anti-affinity does not keep pods apart there; did you mean topology.kubernetes.io/zone?"}
}
