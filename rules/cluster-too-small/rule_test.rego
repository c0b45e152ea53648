package schedlint.rules["cluster-too-small_test"]

import data.schedlint.rules["cluster-too-small"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"others": 0,
	"outcome": "never",
	"pods": 10,
	"pending": 2,
	"resource": "cpu",
	"request": "2 cpu each",
	"room": "capacity for only 8 pods",
	"nodes": 7,
	"eligible": 6,
	"growth": "",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"room": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 10 pods request 2 cpu each, but eligible nodes have capacity for only 8 pods"
	details := ["6 of 7 nodes are eligible", "2 pods stay Pending"]
	subject.report == {{"rule": "cluster-too-small", "fact": 1, "message": message, "details": details}} with input as {"room": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_growth if {
	fact := object.union(bad, {"growth": "pool spot is counted at its max of 2"})
	said(fact) == {"Deployment shop/web: 10 pods request 2 cpu each, but eligible nodes have capacity for only 8 pods; 6 of 7 nodes are eligible; 2 pods stay Pending; pool spot is counted at its max of 2"}
}

test_together if {
	fact := object.union(bad, {"others": 2, "request": "20 cpu in total", "room": "only 16"})
	said(fact) == {"Deployment shop/web and 2 other workloads: 10 pods request 20 cpu in total, but eligible nodes have only 16; 6 of 7 nodes are eligible; at least 2 pods stay Pending"}
}
