package schedlint.rules["node-pools.pool-lacks-label_test"]

import data.schedlint.rules["node-pools.pool-lacks-label"] as subject

pool := {"id": 1, "name": "general", "labels": {"team": "shop", "cost-center": ""}}

# reported gives the findings about one pool.
reported(pool, labels) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "params": {"labels": labels}}
}

test_reports if {
	reported(pool, ["team", "owner", "tier"]) == {{"reason": "pool-lacks-label", "values": {"pool": "general", "labels": ["owner", "tier"]}, "path": ["labels"]}}
}

test_passes if reported(pool, ["team"]) == set()

test_empty_value if reported(pool, ["cost-center"]) == set()

test_nothing_required if reported(pool, []) == set()

test_unknown_is_silent if count(subject.report) == 0 with input as {"pools": [], "params": {"labels": ["team"]}}
