package schedlint.rules["spread-counts-no-pod_test"]

import data.schedlint.rules["spread-counts-no-pod"] as subject

bad := {
	"id": 1,
	"w": 0,
	"use": "spread",
	"hard": true,
	"form": "set",
	"text": "app=website",
	"matches_own": "never",
	"own_namespace": "always",
	"matches": 0,
	"declared": 12,
	"namespaces": {"names": ["shop"], "all": false, "selector": ""},
	"nearest": "app=web",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"selectors": [row]}
}

test_reports if {
	subject.report == {{"rule": "spread-counts-no-pod", "fact": 1, "reason": "spread-counts-no-pod"}} with input as {"selectors": [bad]}
}

test_passes if reported(object.union(bad, {"matches": 1, "matches_own": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"matches": 1, "matches_own": "unknown"})) == set()

test_anti_affinity_is_another_rule if reported(object.union(bad, {"use": "anti-affinity"})) == set()

test_anti_affinity_without_selector_is_another_rule if {
	reported(object.union(bad, {"use": "anti-affinity", "form": "null", "matches": 1})) == set()
}

test_no_selector if {
	fact := object.union(bad, {"form": "null", "text": "", "nearest": ""})
	reported(fact) == {"spread-counts-no-pod"}
}

test_empty_selector if {
	fact := object.union(bad, {"form": "empty", "text": "", "matches": 12, "nearest": ""})
	reported(fact) == {"spread-counts-no-pod"}
}
