package schedlint.rules["upgrade.single-node-pool_test"]

import data.schedlint.rules["upgrade.single-node-pool"] as subject

gpu := {"id": 1, "name": "gpu", "count": 1, "max": 1, "workloads": [0], "workloads_known": true}

# reported gives the findings about one pool, with further input.
reported(pool, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"pools": [pool], "workloads": [{"id": 2, "ref": "Deployment shop/train", "permanent": true, "usable_max": 1}], "params": {}}, others)
}

test_reports if reported(gpu, {}) == {{"reason": "single-node-pool", "values": {"pool": "gpu", "workloads": ["Deployment shop/train"]}}}

test_passes if reported(gpu, {"workloads": [{"id": 2, "ref": "Deployment shop/train", "permanent": true, "usable_max": 2}]}) == set()

test_pool_can_grow if reported(object.union(gpu, {"max": 2}), {}) == set()

test_finite_pods if reported(gpu, {"workloads": [{"id": 2, "ref": "Deployment shop/train", "permanent": false, "usable_max": 1}]}) == set()

test_no_workload if reported(object.union(gpu, {"id": 1, "workloads": []}), {}) == set()

test_unknown_is_silent if reported(gpu, {"workloads": [{"id": 2, "ref": "Deployment shop/train", "permanent": true, "usable_max": 2147483647}]}) == set()
