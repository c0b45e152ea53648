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

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"selectors": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the anti-affinity selects the labels of its own pods (app=web), but not in its own namespace"
	details := ["the term applies to db, cache, where no declared pod matches"]
	subject.report == {{"rule": "namespaces-exclude-own", "fact": 1, "message": message, "details": details}} with input as {"selectors": [bad]}
}

test_passes if said(object.union(bad, {"own_namespace": "always", "matches": 1})) == set()

test_unknown_is_silent if said(object.union(bad, {"own_namespace": "unknown"})) == set()

test_others_match if said(object.union(bad, {"matches": 1})) == set()

test_own_labels_do_not_match if said(object.union(bad, {"matches_own": "never"})) == set()

test_spread_has_no_namespaces if said(object.union(bad, {"use": "spread"})) == set()

test_affinity if {
	fact := object.union(bad, {"use": "affinity"})
	said(fact) == {"Deployment shop/web: the affinity selects the labels of its own pods (app=web), but not in its own namespace; the term applies to db, cache, where no declared pod matches"}
}
