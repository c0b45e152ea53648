package schedlint.rules["zone-loss-leaves-pods-pending_test"]

import data.schedlint.rules["zone-loss-leaves-pods-pending"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"key": "topology.kubernetes.io/zone",
	"value": "a",
	"like": 2,
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
	message := "Deployment shop/web: losing topology.kubernetes.io/zone=a (or any of 2 equivalent domains) leaves 1 of 3 pods Pending"
	subject.report == {{"rule": "zone-loss-leaves-pods-pending", "fact": 1, "message": message}} with input as {"losses": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always", "pending": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown", "pending": 0})) == set()

test_nodes_are_another_rule if said(object.union(bad, {"key": "kubernetes.io/hostname"})) == set()

test_gone if {
	fact := object.union(bad, {"meaning": "gone", "like": 1})
	said(fact) == {"Deployment shop/web: losing topology.kubernetes.io/zone=a (or an equivalent domain) leaves 1 of 3 pods Pending if its Node objects are deleted"}
}

test_unreachable if {
	fact := object.union(bad, {"meaning": "unreachable", "like": 0, "outcome": "sometimes", "pods": 9, "pending": 3})
	said(fact) == {"Deployment shop/web: losing topology.kubernetes.io/zone=a can leave up to 3 of 9 pods Pending while its nodes are unreachable (their pods stay Terminating)"}
}

test_not_created_again if {
	fact := object.union(bad, {"meaning": "unreachable", "recreated": false})
	some message in said(fact)
	contains(message, "missing while")
}
