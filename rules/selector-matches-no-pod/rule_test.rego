package schedlint.rules["selector-matches-no-pod_test"]

import data.schedlint.rules["selector-matches-no-pod"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"use": "affinity",
	"hard": true,
	"form": "set",
	"text": "app=databse",
	"matches_own": "never",
	"own_namespace": "always",
	"matches": 0,
	"declared": 12,
	"namespaces": "shop",
	"nearest": "",
	"maker": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"selectors": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the affinity selects app=databse, which matches none of the 12 declared workloads"
	subject.report == {{"rule": "selector-matches-no-pod", "fact": 1, "message": message}} with input as {"selectors": [bad]}
}

test_passes if said(object.union(bad, {"matches": 1})) == set()

test_unknown_is_silent if said(object.union(bad, {"matches": 1, "matches_own": "unknown"})) == set()

test_namespaces_are_another_rule if said(object.union(bad, {"matches_own": "always", "own_namespace": "never"})) == set()

test_anti_affinity_is_another_rule if said(object.union(bad, {"use": "anti-affinity"})) == set()

test_hard_without_selector_is_another_rule if said(object.union(bad, {"form": "null", "text": ""})) == set()

test_soft_without_selector if {
	fact := object.union(bad, {"form": "null", "text": "", "hard": false})
	said(fact) == {"Deployment shop/web: the affinity has no labelSelector, so it matches no pod"}
}

test_near_miss if {
	fact := object.union(bad, {"nearest": "app=database"})
	said(fact) == {"Deployment shop/web: the affinity selects app=databse, which matches none of the 12 declared workloads (did you mean app=database?)"}
}

test_silent_about_pods_of_an_operator if said(object.union(bad, {"maker": "Cluster shop/db"})) == set()
