package schedlint.rules["unknown-topology-key_test"]

import data.schedlint.rules["unknown-topology-key"] as subject

bad := {
	"id": 1,
	"w": 0,
	"use": "anti-affinity",
	"hard": true,
	"key": "topology.kubernetes.io/hostname",
	"declared": false,
	"usable": 0,
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
	subject.report == {{"rule": "unknown-topology-key", "fact": 1, "reason": "unknown-topology-key"}} with input as {"topology_keys": [bad]}
}

test_passes if reported(object.union(bad, {"known": true})) == set()

test_a_topology_answers_better if reported(object.union(bad, {"declared": true, "usable": 6})) == set()

test_spread if {
	fact := object.union(bad, {"use": "spread", "suggestion": ""})
	reported(fact) == {"unknown-topology-key"}
}
