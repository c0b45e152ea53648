package schedlint.rules["node-pools.undocumented-taint_test"]

import data.schedlint.rules["node-pools.undocumented-taint"] as subject

pool := {"id": 1, "name": "gpu", "taints": [{"id": 2, "key": "gpu", "effect": "NoSchedule"}]}

# reported gives the findings about one pool.
reported(pool, taints) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "params": {"taints": taints}}
}

test_reports if {
	reported(pool, ["nvidia.com/*", "spot"]) == {{"reason": "undocumented-taint", "values": {"pool": "gpu", "key": "gpu"}}}
}

test_stands_at_the_taint if {
	{r.fact | some r in subject.report} == {2} with input as {"pools": [pool], "params": {"taints": ["spot"]}}
}

test_passes if reported(pool, ["g*"]) == set()

test_empty_list if reported(pool, []) == set()

test_of_kubernetes if {
	reported(object.union(pool, {"taints": [{"id": 2, "key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}), ["spot"]) == set()
}

test_unknown_is_silent if {
	count(subject.report) == 0 with input as {"pools": [object.union(pool, {"taints": []})], "params": {"taints": ["spot"]}}
}
