package schedlint.rules["pdb-selects-no-pod_test"]

import data.schedlint.rules["pdb-selects-no-pod"] as subject

bad := {
	"id": 1,
	"budget": "PodDisruptionBudget shop/web",
	"problem": "idle",
	"selector": "app=web",
	"pods": 0,
	"limit": "",
	"selects": [],
	"others": [],
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"budgets": [fact]}
}

test_reports if {
	message := "PodDisruptionBudget shop/web: its selector app=web matches no declared pods in its namespace, so it protects nothing"
	subject.report == {{"rule": "pdb-selects-no-pod", "fact": 1, "message": message}} with input as {"budgets": [bad]}
}

test_passes if subject.report == set() with input as {"budgets": []}

test_unknown_problem_is_silent if said(object.union(bad, {"problem": "unknown"})) == set()

test_blocked_is_another_rule if said(object.union(bad, {"problem": "no-eviction", "pods": 2, "selects": ["Deployment shop/web"]})) == set()

test_empty_selector if {
	said(object.union(bad, {"selector": ""})) == {"PodDisruptionBudget shop/web: its empty selector matches no pods, so it protects nothing"}
}
