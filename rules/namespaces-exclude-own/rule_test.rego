package schedlint.rules["namespaces-exclude-own_test"]

import data.schedlint.rules["namespaces-exclude-own"] as subject

bad := {
	"id": 1,
	"w": 0,
	"use": "anti-affinity",
	"hard": true,
	"form": "set",
	"text": "app=web",
	"matches_own": "always",
	"own_namespace": "never",
	"matches": 0,
	"declared": 12,
	"namespaces": {"names": ["db", "cache"], "all": false, "selector": ""},
	"nearest": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"selectors": [row]}
}

test_reports if {
	subject.report == {{"rule": "namespaces-exclude-own", "fact": 1, "reason": "namespaces-exclude-own"}} with input as {"selectors": [bad]}
}

test_passes if reported(object.union(bad, {"own_namespace": "always", "matches": 1})) == set()

test_unknown_is_silent if reported(object.union(bad, {"own_namespace": "unknown"})) == set()

test_others_match if reported(object.union(bad, {"matches": 1})) == set()

test_own_labels_do_not_match if reported(object.union(bad, {"matches_own": "never"})) == set()

test_spread_has_no_namespaces if reported(object.union(bad, {"use": "spread"})) == set()

test_affinity if {
	fact := object.union(bad, {"use": "affinity"})
	reported(fact) == {"namespaces-exclude-own"}
}
