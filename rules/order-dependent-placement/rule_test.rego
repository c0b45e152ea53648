package schedlint.rules["order-dependent-placement_test"]

import data.schedlint.rules["order-dependent-placement"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"pods": 3,
	"pending": 1,
	"placed": ["2 pods of Deployment shop/cache on n1, n2"],
	"reason": "3 nodes refused by InterPodAffinity",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"orders": [fact]}
}

test_reports if {
	message := "Deployment shop/web: with 2 pods of Deployment shop/cache on n1, n2 first, 1 of its 3 pods fits nowhere (3 nodes refused by InterPodAffinity); in another order all fit"
	subject.report == {{"rule": "order-dependent-placement", "fact": 1, "message": message}} with input as {"orders": [bad]}
}

test_names_a_few if {
	fact := object.union(bad, {"placed": ["a", "b", "c", "d", "e"]})
	said(fact) == {"Deployment shop/web: with a, b, c and those of 2 more workloads first, 1 of its 3 pods fits nowhere (3 nodes refused by InterPodAffinity); in another order all fit"}
}

test_single_pod if {
	fact := object.union(bad, {"pods": 1})
	said(fact) == {"Deployment shop/web: with 2 pods of Deployment shop/cache on n1, n2 first, its pod fits nowhere (3 nodes refused by InterPodAffinity); in another order all fit"}
}

test_silent_without_runs if subject.report == set() with input as {"orders": []}
