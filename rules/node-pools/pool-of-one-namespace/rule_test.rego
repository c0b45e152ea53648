package schedlint.rules["node-pools.pool-of-one-namespace_test"]

import data.schedlint.rules["node-pools.pool-of-one-namespace"] as subject

web := {"id": 1, "namespace": "shop", "placement_known": true, "per_node": false}

train := object.union(web, {"id": 2, "namespace": "ml"})

agent := object.union(web, {"id": 3, "namespace": "kube-system", "per_node": true})

pool := {"id": 4, "name": "gpu", "workloads": [1, 2]}

# reported gives the findings about one pool and some workloads.
reported(pool, workloads) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "workloads": workloads, "params": {"except": ["ml-*"]}}
}

test_reports if reported(pool, [web, train, agent]) == {{"reason": "pool-of-one-namespace", "values": {"pool": "gpu", "namespace": "ml"}}}

test_passes if reported(object.union(pool, {"workloads": [0, 1, 2]}), [web, train, agent]) == set()

test_one_namespace_in_all if reported(pool, [train, train, agent]) == set()

test_open_namespace if reported(pool, [web, object.union(train, {"namespace": ""}), agent]) == set()

test_nobody if reported(object.union(pool, {"workloads": [2]}), [web, train, agent]) == set()

test_except if reported(object.union(pool, {"name": "ml-1"}), [web, train, agent]) == set()

test_unknown_is_silent if {
	reported(pool, [web, train, agent, object.union(web, {"placement_known": false})]) == set()
}
