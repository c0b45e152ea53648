package schedlint.rules["request-exceeds-nodes_test"]

import data.schedlint.rules["request-exceeds-nodes"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"outcome": "never",
	"resource": "memory",
	"request": "64Gi",
	"largest": "32Gi",
	"largest_node": "node-1",
	"eligible": 6,
	"fitting": 0,
	"per_node": false,
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"requests": [fact]}
}

test_reports if {
	message := "Deployment shop/web: each pod requests 64Gi memory, but none of the 6 eligible nodes has that much"
	details := ["the largest, node-1, has 32Gi"]
	subject.report == {{"rule": "request-exceeds-nodes", "fact": 1, "message": message, "details": details}} with input as {"requests": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_no_node_has_any if {
	fact := object.union(bad, {"resource": "nvidia.com/gpu", "request": "1", "largest": "0", "largest_node": "", "eligible": 1})
	said(fact) == {"Deployment shop/web: each pod requests 1 nvidia.com/gpu, but the only eligible node does not have that much"}
}

test_a_daemon_set_loses_a_pod_per_small_node if {
	fact := object.union(bad, {"workload": "DaemonSet kube-system/agent", "resource": "cpu", "request": "2", "fitting": 4, "per_node": true})
	said(fact) == {"DaemonSet kube-system/agent: each pod requests 2 cpu, but 2 of the 6 eligible nodes have less; 2 pods stay Pending"}
}

test_a_daemon_set_on_one_small_node if {
	fact := object.union(bad, {"workload": "DaemonSet kube-system/agent", "resource": "cpu", "request": "2", "fitting": 5, "per_node": true})
	said(fact) == {"DaemonSet kube-system/agent: each pod requests 2 cpu, but 1 of the 6 eligible nodes has less; 1 pod stays Pending"}
}
