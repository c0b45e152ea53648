package schedlint.rules["ha.down-after-node-loss_test"]

import data.schedlint.rules["ha.down-after-node-loss"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "permanent": true, "pods_min": 3, "on_one_node_min": 1, "on_one_node_max": 3}

# reported gives the findings about one workload, with further input.
reported(workload, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"workloads": [workload], "sharing": [], "params": {"min_pods": 2}}, others)
}

test_reports if reported(web, {}) == {{"reason": "down-after-loss", "values": {"workload": "Deployment shop/web", "pods": 3, "kind": "node", "key": "kubernetes.io/hostname"}}}

test_passes if reported(object.union(web, {"on_one_node_max": 2}), {}) == set()

test_replicas_are_left_to_another_rule if {
	reported(web, {"sharing": [{"w": 0, "outcome": "sometimes"}]}) == set()
	reported(web, {"sharing": [{"w": 1, "outcome": "sometimes"}]}) == reported(web, {})
	reported(web, {"sharing": [{"w": 0, "outcome": "never"}]}) == reported(web, {})
}

test_finite_pods if reported(object.union(web, {"permanent": false}), {}) == set()

test_few_pods if reported(web, {"params": {"min_pods": 4}}) == set()

test_unknown_is_silent if reported(object.union(web, {"on_one_node_min": 0}), {}) == set()
