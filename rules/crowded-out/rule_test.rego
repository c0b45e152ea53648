package schedlint.rules["crowded-out_test"]

import data.schedlint.rules["crowded-out"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/a",
	"workloads": ["Deployment shop/a", "Deployment shop/b"],
	"outcome": "never",
	"pods": 4,
	"most": 3,
	"pending": 1,
	"nodes": 3,
	"reasons": ["Deployment shop/a has required anti-affinity on kubernetes.io/hostname"],
	"growth": "",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"crowds": [fact]}
}

test_reports if {
	message := "Deployment shop/a, Deployment shop/b: only 3 of 4 pods fit on the 3 nodes at the same time"
	details := ["Deployment shop/a has required anti-affinity on kubernetes.io/hostname", "1 pod stays Pending"]
	subject.report == {{"rule": "crowded-out", "fact": 1, "message": message, "details": details}} with input as {"crowds": [bad]}
}

test_one_workload if {
	fact := object.union(bad, {"workloads": ["Deployment shop/a"]})
	said(fact) == {"Deployment shop/a: only 3 of 4 pods fit on the 3 nodes; Deployment shop/a has required anti-affinity on kubernetes.io/hostname; 1 pod stays Pending"}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()
