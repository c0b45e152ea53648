package schedlint.rules["node-loss-leaves-pods-pending_test"]

import data.schedlint.rules["node-loss-leaves-pods-pending"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"key": "kubernetes.io/hostname",
	"value": "n1",
	"like": 4,
	"meaning": "both",
	"pods": 3,
	"pending": 1,
	"recreated": true,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"losses": [fact]}
}

test_reports if {
	message := "Deployment shop/web: losing node n1 (or any of 4 equivalent nodes) leaves 1 of 3 pods Pending"
	subject.report == {{"rule": "node-loss-leaves-pods-pending", "fact": 1, "message": message}} with input as {"losses": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always", "pending": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown", "pending": 0})) == set()

test_zones_are_another_rule if said(object.union(bad, {"key": "topology.kubernetes.io/zone"})) == set()

test_gone if {
	fact := object.union(bad, {"meaning": "gone", "like": 1})
	said(fact) == {"Deployment shop/web: losing node n1 (or an equivalent node) leaves 1 of 3 pods Pending if its Node object is deleted"}
}

test_unreachable if {
	fact := object.union(bad, {"meaning": "unreachable", "like": 0, "outcome": "sometimes", "pending": 2})
	said(fact) == {"Deployment shop/web: losing node n1 can leave up to 2 of 3 pods Pending while it is unreachable (its pods stay Terminating)"}
}

test_only_pod if {
	fact := object.union(bad, {"like": 0, "outcome": "sometimes", "pods": 1})
	said(fact) == {"Deployment shop/web: losing node n1 can leave its only pod Pending"}
}

test_not_created_again if {
	fact := object.union(bad, {"meaning": "unreachable", "recreated": false})
	some message in said(fact)
	contains(message, "missing while")
}
