package schedlint.rules["drain-blocked_test"]

import data.schedlint.rules["drain-blocked"] as subject

bad := {
	"id": 1,
	"budget": "PodDisruptionBudget shop/web",
	"problem": "no-eviction",
	"selector": "app=web",
	"pods": 2,
	"limit": "minAvailable 2 of 2 pods",
	"selects": ["Deployment shop/web"],
	"others": [],
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"budgets": [fact]}
}

test_reports if {
	message := "PodDisruptionBudget shop/web allows no disruptions of Deployment shop/web (minAvailable 2 of 2 pods)"
	details := ["draining a node that runs one of these pods never completes"]
	subject.report == {{"rule": "drain-blocked", "fact": 1, "message": message, "details": details}} with input as {"budgets": [bad]}
}

test_passes if subject.report == set() with input as {"budgets": []}

test_unknown_problem_is_silent if said(object.union(bad, {"problem": "unknown"})) == set()

test_idle_is_another_rule if said(object.union(bad, {"problem": "idle", "pods": 0, "selects": []})) == set()

test_several if {
	fact := object.union(bad, {"problem": "several", "others": ["PodDisruptionBudget shop/all"]})
	said(fact) == {"PodDisruptionBudget shop/web selects pods of Deployment shop/web that PodDisruptionBudget shop/all also selects; the API server refuses to evict a pod that more than one PodDisruptionBudget selects"}
}

test_many if {
	fact := object.union(bad, {"problem": "several", "selects": ["a", "b", "c", "d"], "others": ["PodDisruptionBudget shop/x", "PodDisruptionBudget shop/y"]})
	said(fact) == {"PodDisruptionBudget shop/web selects pods of a, b, c and 1 more that PodDisruptionBudget shop/x, PodDisruptionBudget shop/y also select; the API server refuses to evict a pod that more than one PodDisruptionBudget selects"}
}
