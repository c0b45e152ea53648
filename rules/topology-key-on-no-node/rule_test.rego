package schedlint.rules["topology-key-on-no-node_test"]

import data.schedlint.rules["topology-key-on-no-node"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
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

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"topology_keys": [fact]}
}

test_reports if {
	message := "Deployment shop/web: none of the 6 eligible nodes has the label topology.kubernetes.io/hostname, so the required anti-affinity has no effect"
	details := ["did you mean kubernetes.io/hostname?"]
	subject.report == {{"rule": "topology-key-on-no-node", "fact": 1, "message": message, "details": details}} with input as {"topology_keys": [bad]}
}

test_passes if said(object.union(bad, {"with": 6})) == set()

test_some_nodes_are_another_rule if said(object.union(bad, {"with": 2})) == set()

test_unknown_is_silent if said(object.union(bad, {"declared": false, "usable": 0})) == set()

test_no_usable_node_is_another_rule if said(object.union(bad, {"usable": 0})) == set()

test_hard_affinity_is_another_rule if said(object.union(bad, {"use": "affinity"})) == set()

test_hard_spread_is_another_rule if said(object.union(bad, {"use": "spread"})) == set()

test_soft_affinity if {
	fact := object.union(bad, {"use": "affinity", "hard": false, "suggestion": ""})
	said(fact) == {"Deployment shop/web: none of the 6 eligible nodes has the label topology.kubernetes.io/hostname, so the preferred affinity has no effect"}
}

test_soft_spread if {
	fact := object.union(bad, {"use": "spread", "hard": false, "usable": 1, "suggestion": ""})
	said(fact) == {"Deployment shop/web: the only eligible node does not have the label topology.kubernetes.io/hostname, so the ScheduleAnyway constraint has no effect"}
}

test_soft_anti_affinity if {
	fact := object.union(bad, {"hard": false, "suggestion": ""})
	said(fact) == {"Deployment shop/web: none of the 6 eligible nodes has the label topology.kubernetes.io/hostname, so the preferred anti-affinity has no effect"}
}

test_hard_rules_of_fragments if {
	every use in ["affinity", "spread"] {
		fact := object.union(bad, {"workload": "Prometheus shop/web", "fragment": true, "use": use, "suggestion": ""})
		said(fact) == {"Prometheus shop/web: none of the 6 eligible nodes has the label topology.kubernetes.io/hostname, so no node satisfies the rule"}
	}
}
