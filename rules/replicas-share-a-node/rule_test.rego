package schedlint.rules["replicas-share-a-node_test"]

import data.schedlint.rules["replicas-share-a-node"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"group": "apps",
	"kind": "Deployment",
	"namespace": "shop",
	"name": "web",
	"pods": 3,
	"pods_known": true,
	"lasting": true,
	"placement_known": true,
	"usable": 6,
	"zones": 3,
	"on_one_node": 3,
	"node": "n1",
	"in_one_zone": 3,
	"soft": ["preferred anti-affinity on kubernetes.io/hostname"],
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"workloads": [fact]}
}

test_reports if {
	message := "Deployment shop/web: losing node n1 can take down all 3 replicas"
	details := ["losing a zone can take down all 3", "preferred anti-affinity on kubernetes.io/hostname is not enforced"]
	subject.report == {{"rule": "replicas-share-a-node", "fact": 1, "message": message, "details": details}} with input as {"workloads": [bad]}
}

test_passes if said(object.union(bad, {"on_one_node": 1, "in_one_zone": 1})) == set()

test_some_survive if said(object.union(bad, {"on_one_node": 2})) == set()

test_unknown_placement_is_silent if said(object.union(bad, {"placement_known": false, "usable": 0, "zones": 0, "on_one_node": 0, "in_one_zone": 0})) == set()

test_unknown_number_is_silent if said(object.union(bad, {"pods_known": false, "pods": 0})) == set()

test_one_pod if said(object.union(bad, {"pods": 1, "on_one_node": 1})) == set()

test_one_node if said(object.union(bad, {"usable": 1})) == set()

test_jobs_end if said(object.union(bad, {"lasting": false})) == set()

test_no_zones if {
	fact := object.union(bad, {"pods": 2, "on_one_node": 2, "zones": 0, "in_one_zone": 0, "soft": []})
	said(fact) == {"Deployment shop/web: losing node n1 can take down all 2 replicas"}
}
