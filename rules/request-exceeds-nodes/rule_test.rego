package schedlint.rules["request-exceeds-nodes_test"]

import data.schedlint.rules["request-exceeds-nodes"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"verdict": "never",
	"resource": "memory",
	"request": "64Gi",
	"largest": "32Gi",
	"largest_node": "node-1",
	"eligible": 6,
	"fitting": 0,
	"per_node": false,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"requests": [fact]}
}

test_reports if {
	message := "Deployment shop/web: each pod requests 64Gi of memory; none of the 6 nodes it may use has as much; the largest, node-1, has 32Gi"
	subject.report == {{"rule": "request-exceeds-nodes", "fact": 1, "message": message}} with input as {"requests": [bad]}
}

test_passes if said(object.union(bad, {"verdict": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"verdict": "unknown"})) == set()

test_no_node_has_any if {
	fact := object.union(bad, {"resource": "nvidia.com/gpu", "request": "1", "largest": "0", "largest_node": "", "eligible": 1})
	said(fact) == {"Deployment shop/web: each pod requests 1 of nvidia.com/gpu; the only node it may use does not have as much"}
}

test_a_daemon_set_loses_a_pod_per_small_node if {
	fact := object.union(bad, {"workload": "DaemonSet kube-system/agent", "resource": "cpu", "request": "2", "fitting": 4, "per_node": true})
	said(fact) == {"DaemonSet kube-system/agent: each pod requests 2 of cpu; 2 of the 6 nodes it may use have less; 2 pods stay Pending"}
}

test_a_daemon_set_on_one_small_node if {
	fact := object.union(bad, {"workload": "DaemonSet kube-system/agent", "resource": "cpu", "request": "2", "fitting": 5, "per_node": true})
	said(fact) == {"DaemonSet kube-system/agent: each pod requests 2 of cpu; 1 of the 6 nodes it may use has less; 1 pod stays Pending"}
}
