package schedlint.rules["capacity.daemonsets-fill-node_test"]

import data.schedlint.rules["capacity.daemonsets-fill-node"] as subject

small := {"id": 5, "name": "small"}

# reported gives the findings about one pool, with further input.
reported(pool, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"pools": [pool], "nodes": [{"id": 1, "name": "small-0", "pool": "small", "workloads": [0, 1], "allocatable": [{"resource": "cpu", "value": 2000}]}], "workloads": [{"id": 7, "ref": "DaemonSet kube-system/agent", "per_node": true, "pod_requests": [{"resource": "cpu", "value": 701}, {"resource": "memory", "value": 5000}]}, {"id": 8, "ref": "Deployment shop/web", "per_node": false, "pod_requests": [{"resource": "cpu", "value": 1500}]}], "params": {"max_percent": 30, "resources": ["cpu", "memory"]}}, others)
}

found := {"reason": "daemonsets-fill-node", "values": {"pool": "small", "resource": "cpu", "node": "small-0", "limit": 30, "percent": 36}}

test_reports if reported(small, {}) == {found}

test_reports_a_pool_once if reported(small, {"nodes": [{"id": 1, "name": "small-0", "pool": "small", "workloads": [0, 1], "allocatable": [{"resource": "cpu", "value": 2000}]}, {"id": 2, "name": "small-1", "pool": "small", "workloads": [0, 1], "allocatable": [{"resource": "cpu", "value": 2000}]}]}) == {found}

test_other_pool if reported(object.union(small, {"name": "large"}), {}) == set()

test_no_room_at_all if reported(small, {"nodes": [{"id": 1, "name": "small-0", "pool": "small", "workloads": [0, 1], "allocatable": [{"resource": "cpu", "value": 0}]}]}) == {{"reason": "daemonsets-without-room", "values": {"pool": "small", "resource": "cpu", "node": "small-0", "limit": 30}}}

test_passes if reported(small, {"params": {"max_percent": 36}}) == set()

test_other_resource if reported(small, {"params": {"resources": ["memory"]}}) == set()

test_others_only if reported(small, {"nodes": [{"id": 1, "name": "small-0", "pool": "small", "workloads": [1], "allocatable": [{"resource": "cpu", "value": 2000}]}]}) == set()

test_unknown_is_silent if reported(small, {"nodes": [{"id": 1, "name": "small-0", "pool": "small", "workloads": [0, 1], "allocatable": []}]}) == set()
