package schedlint.rules["ha.down-after-zone-loss_test"]

import data.schedlint.rules["ha.down-after-zone-loss"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "permanent": true, "pods_min": 3, "in_one_zone_min": 1, "in_one_zone_max": 3, "on_one_node_max": 1}

# reported gives the findings about one workload, with further input.
reported(workload, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"workloads": [workload], "params": {"min_pods": 2}}, others)
}

test_reports if reported(web, {}) == {{"reason": "down-after-loss", "values": {"workload": "Deployment shop/web", "pods": 3, "kind": "zone", "key": "topology.kubernetes.io/zone"}}}

test_passes if reported(object.union(web, {"in_one_zone_max": 2}), {}) == set()

test_one_node_is_another_finding if reported(object.union(web, {"on_one_node_max": 3}), {}) == set()

test_finite_pods if reported(object.union(web, {"permanent": false}), {}) == set()

test_few_pods if reported(web, {"params": {"min_pods": 4}}) == set()

test_unknown_is_silent if reported(object.union(web, {"in_one_zone_min": 0}), {}) == set()
