package schedlint.rules["namespaces-exclude-own_test"]

import data.schedlint.rules["namespaces-exclude-own"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"use": "anti-affinity",
	"hard": true,
	"form": "set",
	"text": "app=web",
	"matches_own": "always",
	"own_namespace": "never",
	"matches": 0,
	"declared": 12,
	"namespaces": "db, cache",
	"nearest": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"selectors": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the anti-affinity selects app=web, as its own pods are, but only in the namespaces db, cache; its own is not among them, and no declared pod matches"
	subject.report == {{"rule": "namespaces-exclude-own", "fact": 1, "message": message}} with input as {"selectors": [bad]}
}

test_passes if said(object.union(bad, {"own_namespace": "always", "matches": 1})) == set()

test_unknown_is_silent if said(object.union(bad, {"own_namespace": "unknown"})) == set()

test_others_match if said(object.union(bad, {"matches": 1})) == set()

test_own_labels_do_not_match if said(object.union(bad, {"matches_own": "never"})) == set()

test_spread_has_no_namespaces if said(object.union(bad, {"use": "spread"})) == set()

test_affinity if {
	fact := object.union(bad, {"use": "affinity"})
	said(fact) == {"Deployment shop/web: the affinity selects app=web, as its own pods are, but only in the namespaces db, cache; its own is not among them, and no declared pod matches"}
}
