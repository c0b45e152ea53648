package schedlint.rules["selector-misses-own-pods_test"]

import data.schedlint.rules["selector-misses-own-pods"] as subject

bad := {
	"id": 1,
	"w": 0,
	"use": "anti-affinity",
	"hard": true,
	"form": "set",
	"text": "app=website",
	"matches_own": "never",
	"own_namespace": "always",
	"matches": 0,
	"declared": 12,
	"namespaces": {"names": ["shop"], "all": false, "selector": ""},
	"nearest": "app=web",
	"maker": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"selectors": [row]}
}

test_reports if {
	subject.report == {{"rule": "selector-misses-own-pods", "fact": 1, "reason": "selector-misses-own-pods"}} with input as {"selectors": [bad]}
}

test_passes if reported(object.union(bad, {"matches": 1, "matches_own": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"matches": 1, "matches_own": "unknown"})) == set()

test_namespaces_are_another_rule if reported(object.union(bad, {"matches_own": "always", "own_namespace": "never"})) == set()

test_other_namespaces_and_labels if reported(object.union(bad, {"own_namespace": "never"})) == {"selector-misses-own-pods"}

test_own_labels_in_an_unknown_namespace if {
	fact := object.union(bad, {"matches_own": "always", "own_namespace": "unknown"})
	reported(fact) == {"selector-misses-own-pods"}
}

test_affinity_is_another_rule if reported(object.union(bad, {"use": "affinity"})) == set()

test_no_selector if {
	fact := object.union(bad, {"form": "null", "text": "", "hard": false, "nearest": ""})
	reported(fact) == {"selector-misses-own-pods"}
}

test_silent_about_pods_of_an_operator if reported(object.union(bad, {"maker": "Cluster shop/db"})) == set()
