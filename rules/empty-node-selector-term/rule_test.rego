package schedlint.rules["empty-node-selector-term_test"]

import data.schedlint.rules["empty-node-selector-term"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"hard": true,
	"empty": true,
	"others": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"node_terms": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the empty nodeSelectorTerm matches no nodes, so no node satisfies the required node affinity"
	subject.report == {{"rule": "empty-node-selector-term", "fact": 1, "message": message}} with input as {"node_terms": [bad]}
}

test_passes if said(object.union(bad, {"empty": false})) == set()

test_beside_others if {
	fact := object.union(bad, {"others": 2})
	said(fact) == {"Deployment shop/web: the empty nodeSelectorTerm matches no nodes, so only the other 2 terms count"}
}

test_beside_one_other if {
	fact := object.union(bad, {"others": 1})
	said(fact) == {"Deployment shop/web: the empty nodeSelectorTerm matches no nodes, so only the other term counts"}
}

test_soft if {
	fact := object.union(bad, {"hard": false, "others": 1})
	said(fact) == {"Deployment shop/web: the empty preferred node affinity term favors no nodes"}
}
