package schedlint.rules["circular-affinity_test"]

import data.schedlint.rules["circular-affinity"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/a",
	"members": ["Deployment shop/a", "Deployment shop/b", "Deployment shop/c", "Deployment shop/a"],
	"member": true,
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"circles": [fact]}
}

test_reports if {
	message := "Deployment shop/a: its required affinity is part of a cycle: Deployment shop/a waits for Deployment shop/b, which waits for Deployment shop/c, which waits for Deployment shop/a"
	details := ["none of their pods can start"]
	subject.report == {{"rule": "circular-affinity", "fact": 1, "message": message, "details": details}} with input as {"circles": [bad]}
}

test_from_outside if {
	fact := object.union(bad, {"workload": "Deployment shop/web", "members": ["Deployment shop/a", "Deployment shop/b", "Deployment shop/a"], "member": false})
	said(fact) == {"Deployment shop/web: its required affinity waits for a cycle: Deployment shop/a waits for Deployment shop/b, which waits for Deployment shop/a; none of their pods can start"}
}

test_silent_without_circles if subject.report == set() with input as {"circles": []}
