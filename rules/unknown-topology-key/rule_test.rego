package schedlint.rules["unknown-topology-key_test"]

import data.schedlint.rules["unknown-topology-key"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
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

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"topology_keys": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the anti-affinity uses topologyKey topology.kubernetes.io/hostname, a node label that Kubernetes does not set"
	details := ["did you mean kubernetes.io/hostname?"]
	subject.report == {{"rule": "unknown-topology-key", "fact": 1, "message": message, "details": details}} with input as {"topology_keys": [bad]}
}

test_passes if said(object.union(bad, {"known": true})) == set()

test_a_topology_answers_better if said(object.union(bad, {"declared": true, "usable": 6})) == set()

test_spread if {
	fact := object.union(bad, {"use": "spread", "suggestion": ""})
	said(fact) == {"Deployment shop/web: the topologySpreadConstraint uses topologyKey topology.kubernetes.io/hostname, a node label that Kubernetes does not set"}
}
