package schedlint.rules["multi-tenant.tenant-pool-untainted_test"]

import data.schedlint.rules["multi-tenant.tenant-pool-untainted"] as subject

pool := {"id": 1, "name": "blue-1", "taints": []}

# reported gives the findings about one pool.
reported(pool) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "params": {"tenants": [
		{"name": "blue", "namespaces": ["x"], "pools": ["blue-*"]},
		{"name": "red", "namespaces": ["y"], "pools": []},
	]}}
}

test_reports if reported(pool) == {{"reason": "tenant-pool-untainted", "values": {"pool": "blue-1", "tenants": ["blue"]}}}

test_preferred_only if {
	count(reported(object.union(pool, {"taints": [{"id": 2, "key": "tenant", "effect": "PreferNoSchedule"}]}))) == 1
}

test_passes if {
	every effect in ["NoSchedule", "NoExecute"] {
		reported(object.union(pool, {"taints": [{"id": 2, "key": "tenant", "effect": effect}]})) == set()
	}
}

test_no_tenant if reported(object.union(pool, {"name": "general"})) == set()

test_unknown_is_silent if {
	count(subject.report) == 0 with input as {"pools": [], "params": {"tenants": [{"name": "blue", "namespaces": ["x"], "pools": ["*"]}]}}
}
