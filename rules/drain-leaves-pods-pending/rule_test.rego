package schedlint.rules["drain-leaves-pods-pending_test"]

import data.schedlint.rules["drain-leaves-pods-pending"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"pods": 3,
	"node": "n1",
	"like": 2,
	"pending": 1,
	"limit": "maxUnavailable 1 of 3 pods",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"drains": [fact]}
}

test_reports if {
	message := "Deployment shop/web: draining node n1 (or any of 2 equivalent nodes) leaves 1 of 3 pods Pending until it is schedulable again"
	details := ["the next drain is then blocked (maxUnavailable 1 of 3 pods)"]
	subject.report == {{"rule": "drain-leaves-pods-pending", "fact": 1, "message": message, "details": details}} with input as {"drains": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always", "pending": 0})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown", "pending": 0})) == set()

test_maybe_without_budget if {
	fact := object.union(bad, {"outcome": "sometimes", "like": 0, "pending": 2, "limit": ""})
	said(fact) == {"Deployment shop/web: draining node n1 can leave up to 2 of 3 pods Pending until it is schedulable again"}
}
