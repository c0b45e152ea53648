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

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"orders": [fact]}
}

test_reports if {
	message := "Deployment shop/web: 1 of its 3 pods cannot be scheduled if the scheduler places 2 pods of Deployment shop/cache on n1, n2 first"
	details := ["blocked by 3 nodes refused by InterPodAffinity", "all pods fit in another order"]
	subject.report == {{"rule": "order-dependent-placement", "fact": 1, "message": message, "details": details}} with input as {"orders": [bad]}
}

test_names_a_few if {
	fact := object.union(bad, {"placed": ["a", "b", "c", "d", "e"]})
	said(fact) == {"Deployment shop/web: 1 of its 3 pods cannot be scheduled if the scheduler places a, b, c and those of 2 more workloads first; blocked by 3 nodes refused by InterPodAffinity; all pods fit in another order"}
}

test_single_pod if {
	fact := object.union(bad, {"pods": 1})
	said(fact) == {"Deployment shop/web: its pod cannot be scheduled if the scheduler places 2 pods of Deployment shop/cache on n1, n2 first; blocked by 3 nodes refused by InterPodAffinity; all pods fit in another order"}
}

test_silent_without_runs if subject.report == set() with input as {"orders": []}
