package schedlint.rules["node-pools.pool-without-workloads_test"]

import data.schedlint.rules["node-pools.pool-without-workloads"] as subject

web := {"id": 1, "placement_known": true, "per_node": false}

agent := object.union(web, {"id": 2, "per_node": true})

pool := {"id": 3, "name": "gpu", "workloads_known": true, "workloads": [1]}

# reported gives the findings about one pool and some workloads.
reported(pool, workloads) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "workloads": workloads, "params": {"except": ["spare-*"]}}
}

test_reports if reported(pool, [web, agent]) == {{"reason": "pool-without-workloads", "values": {"pool": "gpu"}}}

test_passes if reported(object.union(pool, {"workloads": [0, 1]}), [web, agent]) == set()

test_nothing_declared if reported(pool, [agent, agent]) == set()

test_except if reported(object.union(pool, {"name": "spare-1"}), [web, agent]) == set()

test_unknown_is_silent if reported(object.union(pool, {"workloads_known": false}), [web, agent]) == set()

test_unknown_workload_is_silent if {
	reported(pool, [web, agent, object.union(web, {"placement_known": false})]) == set()
}
