package schedlint.rules["node-pools.daemonset-misses-pool_test"]

import data.schedlint.rules["node-pools.daemonset-misses-pool"] as subject

agent := {"id": 1, "ref": "DaemonSet kube-system/agent", "per_node": true, "tainted_pools": ["gpu", "spot"]}

# reported gives the findings about one workload.
reported(workload, except) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {"except": except}}
}

found := {"reason": "daemonset-misses-pool", "values": {"workload": "DaemonSet kube-system/agent", "pools": ["gpu", "spot"]}}

test_reports if reported(agent, []) == {found}

test_except if {
	reported(agent, ["g*"]) == {object.union(found, {"values": {"pools": ["spot"]}})}
	reported(agent, ["*"]) == set()
}

test_passes if reported(object.union(agent, {"tainted_pools": []}), []) == set()

test_others if reported(object.union(agent, {"per_node": false}), []) == set()

test_unknown_is_silent if reported({"id": 1, "ref": "DaemonSet kube-system/agent", "per_node": true, "placement_known": false, "tainted_pools": []}, []) == set()
