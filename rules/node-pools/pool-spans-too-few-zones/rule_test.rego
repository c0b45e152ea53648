package schedlint.rules["node-pools.pool-spans-too-few-zones_test"]

import data.schedlint.rules["node-pools.pool-spans-too-few-zones"] as subject

pool := {"id": 1, "name": "general", "zones": ["a", "b"]}

# reported gives the findings about one pool.
reported(pool) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "params": {"zones": 3, "except": ["zonal-*"]}}
}

test_reports if reported(pool) == {{"reason": "pool-spans-too-few-zones", "values": {"pool": "general", "zones": ["a", "b"], "least": 3, "lacking": 1}}}

test_passes if reported(object.union(pool, {"zones": ["a", "b", "c"]})) == set()

test_except if reported(object.union(pool, {"name": "zonal-a"})) == set()

test_unknown_is_silent if reported(object.union(pool, {"zones": []})) == set()
