package schedlint.rules["crowded-out_test"]

import data.schedlint.rules["crowded-out"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/a",
	"workloads": ["Deployment shop/a", "Deployment shop/b"],
	"verdict": "never",
	"pods": 4,
	"most": 3,
	"pending": 1,
	"nodes": 3,
	"reasons": ["Deployment shop/a has required anti-affinity on kubernetes.io/hostname"],
	"growth": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"crowds": [fact]}
}

test_reports if {
	message := "Deployment shop/a, Deployment shop/b: of their 4 pods at most 3 fit on the 3 nodes together; Deployment shop/a has required anti-affinity on kubernetes.io/hostname; 1 pod stays Pending"
	subject.report == {{"rule": "crowded-out", "fact": 1, "message": message}} with input as {"crowds": [bad]}
}

test_one_workload if {
	fact := object.union(bad, {"workloads": ["Deployment shop/a"]})
	said(fact) == {"Deployment shop/a: of its 4 pods at most 3 fit on the 3 nodes; Deployment shop/a has required anti-affinity on kubernetes.io/hostname; 1 pod stays Pending"}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()
