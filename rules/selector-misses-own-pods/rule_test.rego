package schedlint.rules["selector-misses-own-pods_test"]

import data.schedlint.rules["selector-misses-own-pods"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"use": "anti-affinity",
	"hard": true,
	"form": "set",
	"text": "app=website",
	"matches_own": "never",
	"own_namespace": "always",
	"matches": 0,
	"declared": 12,
	"namespaces": "shop",
	"nearest": "app=web",
	"maker": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"selectors": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the anti-affinity selects app=website, which matches no declared pod, not even its own (did you mean app=web?)"
	subject.report == {{"rule": "selector-misses-own-pods", "fact": 1, "message": message}} with input as {"selectors": [bad]}
}

test_passes if said(object.union(bad, {"matches": 1, "matches_own": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"matches": 1, "matches_own": "unknown"})) == set()

test_namespaces_are_another_rule if said(object.union(bad, {"matches_own": "always", "own_namespace": "never"})) == set()

test_affinity_is_another_rule if said(object.union(bad, {"use": "affinity"})) == set()

test_no_selector if {
	fact := object.union(bad, {"form": "null", "text": "", "hard": false, "nearest": ""})
	said(fact) == {"Deployment shop/web: the anti-affinity has no labelSelector, so it matches no pod"}
}

test_silent_about_pods_of_an_operator if said(object.union(bad, {"maker": "Cluster shop/db"})) == set()
