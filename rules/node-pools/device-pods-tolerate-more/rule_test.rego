package schedlint.rules["node-pools.device-pods-tolerate-more_test"]

import data.schedlint.rules["node-pools.device-pods-tolerate-more"] as subject

train := {
	"id": 1, "ref": "Deployment shop/train", "per_node": false,
	"pod_requests": [{"resource": "nvidia.com/gpu", "value": 1}],
	"tolerations": [{"id": 2, "key": "dedicated", "pools": ["gpu", "tenant"]}],
}

gpu := {"id": 3, "name": "gpu", "allocatable": [{"resource": "nvidia.com/gpu", "value": 2}]}

tenant := {"id": 4, "name": "tenant", "allocatable": [{"resource": "cpu", "value": 4000}]}

# reported gives the findings about one workload beside some pools.
reported(workload, pools) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": pools, "workloads": [workload], "params": {"devices": ["nvidia.com/*"]}}
}

test_reports if {
	reported(train, [gpu, tenant]) == {{"reason": "device-pods-tolerate-more", "values": {"workload": "Deployment shop/train", "device": "nvidia.com/gpu", "pools": ["tenant"]}}}
}

test_passes if reported(train, [gpu]) == set()

test_no_device if reported(object.union(train, {"pod_requests": [{"resource": "cpu", "value": 1}]}), [gpu, tenant]) == set()

test_agent if reported(object.union(train, {"per_node": true}), [gpu, tenant]) == set()

test_pool_is_not_opened if {
	reported(object.union(train, {"tolerations": [{"id": 2, "key": "gpu", "pools": ["gpu"]}]}), [gpu, tenant]) == set()
}

test_unknown_is_silent if reported(train, [gpu, object.union(tenant, {"allocatable": []})]) == set()
