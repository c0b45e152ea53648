package schedlint.rules["drain-leaves-pods-pending_test"]

import data.schedlint.rules["drain-leaves-pods-pending"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"ending": "never",
	"pods": 3,
	"node": "n1",
	"like": 2,
	"pending": 1,
	"limit": "maxUnavailable 1 of 3 pods",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"drains": [fact]}
}

test_reports if {
	message := "Deployment shop/web: draining n1 (or any of 2 nodes like it) leaves 1 of 3 pods Pending until it is back; maxUnavailable 1 of 3 pods, so the next drain is refused"
	subject.report == {{"rule": "drain-leaves-pods-pending", "fact": 1, "message": message}} with input as {"drains": [bad]}
}

test_passes if said(object.union(bad, {"ending": "always", "pending": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"ending": "unknown", "pending": 0})) == set()

test_maybe_without_budget if {
	fact := object.union(bad, {"ending": "sometimes", "like": 0, "pending": 2, "limit": ""})
	said(fact) == {"Deployment shop/web: draining n1 may leave up to 2 of 3 pods Pending until it is back"}
}
