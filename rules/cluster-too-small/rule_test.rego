package schedlint.rules["cluster-too-small_test"]

import data.schedlint.rules["cluster-too-small"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"others": 0,
	"verdict": "never",
	"pods": 10,
	"pending": 2,
	"resource": "cpu",
	"request": "2 of cpu each",
	"room": "room for 8",
	"nodes": 7,
	"eligible": 6,
	"growth": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"room": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 10 pods request 2 of cpu each; 6 of 7 nodes are eligible and have room for 8; 2 pods stay Pending"
	subject.report == {{"rule": "cluster-too-small", "fact": 1, "message": message}} with input as {"room": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()

test_growth if {
	fact := object.union(bad, {"growth": "pool spot is counted at its max of 2"})
	said(fact) == {"Deployment shop/web: 10 pods request 2 of cpu each; 6 of 7 nodes are eligible and have room for 8; 2 pods stay Pending; pool spot is counted at its max of 2"}
}

test_together if {
	fact := object.union(bad, {"others": 2, "request": "20 of cpu together", "room": "16"})
	said(fact) == {"Deployment shop/web and 2 other workloads: 10 pods request 20 of cpu together; 6 of 7 nodes are eligible and have 16; at least 2 pods stay Pending"}
}
