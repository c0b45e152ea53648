package schedlint.rules["node-pools.pool-spans-too-few-zones_test"]

import data.schedlint.rules["node-pools.pool-spans-too-few-zones"] as subject

pool := {"id": 1, "name": "general", "zones": ["a", "b"]}

# reported gives the messages about one pool.
reported(pool) := messages if {
	messages := {r.said.message | some r in subject.report} with input as {"pools": [pool], "params": {"zones": 3, "except": ["zonal-*"]}}
}

test_reports if reported(pool) == {"pool general spans 2 zones (a, b); expected at least 3"}

test_passes if reported(object.union(pool, {"zones": ["a", "b", "c"]})) == set()

test_except if reported(object.union(pool, {"name": "zonal-a"})) == set()

test_unknown_is_silent if reported(object.union(pool, {"zones": []})) == set()
