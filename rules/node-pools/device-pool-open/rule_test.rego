package schedlint.rules["node-pools.device-pool-open_test"]

import data.schedlint.rules["node-pools.device-pool-open"] as subject

web := {
	"id": 1, "ref": "Deployment shop/web", "known": true, "per_node": false, "namespace": "shop",
	"pod_requests": [{"resource": "cpu", "value": 100}],
}

gpu := {"id": 2, "name": "gpu", "allocatable": [{"resource": "cpu", "value": 4000}, {"resource": "nvidia.com/gpu", "value": 1}], "workloads": [0]}

# reported gives the findings about one pool and a workload that can use it.
reported(pool, workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "workloads": [workload], "params": {
		"devices": ["nvidia.com/*"],
		"platform_namespaces": ["kube-*"],
	}}
}

test_reports if {
	reported(gpu, web) == {{"reason": "device-pool-open", "values": {"pool": "gpu", "device": "nvidia.com/gpu", "workloads": ["Deployment shop/web"]}}}
}

test_passes if {
	reported(gpu, object.union(web, {"pod_requests": [{"resource": "nvidia.com/gpu", "value": 1}]})) == set()
}

test_no_device if reported(object.union(gpu, {"allocatable": [{"resource": "cpu", "value": 4000}]}), web) == set()

test_cannot_use_it if reported(object.union(gpu, {"workloads": []}), web) == set()

test_agent if reported(gpu, object.union(web, {"per_node": true})) == set()

test_platform if reported(gpu, object.union(web, {"namespace": "kube-system"})) == set()

test_unknown_is_silent if reported(gpu, object.union(web, {"known": false, "pod_requests": []})) == set()
