package schedlint.rules["empty-node-selector-term_test"]

import data.schedlint.rules["empty-node-selector-term"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"hard": true,
	"empty": true,
	"others": 0,
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"node_terms": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the empty node selector term matches no node, so the required node affinity excludes all of them"
	details := []
	subject.report == {{"rule": "empty-node-selector-term", "fact": 1, "message": message, "details": details}} with input as {"node_terms": [bad]}
}

test_passes if said(object.union(bad, {"empty": false})) == set()

test_beside_others if {
	fact := object.union(bad, {"others": 2})
	said(fact) == {"Deployment shop/web: the empty node selector term matches no node and adds nothing to the 2 terms beside it"}
}

test_beside_one_other if {
	fact := object.union(bad, {"others": 1})
	said(fact) == {"Deployment shop/web: the empty node selector term matches no node and adds nothing to the 1 term beside it"}
}

test_soft if {
	fact := object.union(bad, {"hard": false, "others": 1})
	said(fact) == {"Deployment shop/web: the empty preferred node affinity term favours no node"}
}
