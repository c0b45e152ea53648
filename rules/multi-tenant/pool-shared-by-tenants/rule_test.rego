package schedlint.rules["multi-tenant.pool-shared-by-tenants_test"]

import data.schedlint.rules["multi-tenant.pool-shared-by-tenants"] as subject

general := {"id": 1, "name": "general", "namespaces": ["blue-1", "blue-2", "kube-system", "red"]}

# reported gives the findings about one pool.
reported(pool) := findings if {
	findings := {r.given | some r in subject.report} with input as {"pools": [pool], "params": {
		"tenants": [
			{"name": "red", "namespaces": ["red"], "pools": []},
			{"name": "blue", "namespaces": ["blue-*"], "pools": []},
		],
		"shared_pools": ["infra-*"],
	}}
}

test_reports if reported(general) == {{"reason": "pool-shared-by-tenants", "values": {"pool": "general", "tenants": ["blue", "red"]}}}

test_passes if reported(object.union(general, {"namespaces": ["blue-1", "blue-2", "kube-system"]})) == set()

test_shared if reported(object.union(general, {"name": "infra-1"})) == set()

test_unknown_is_silent if reported(object.union(general, {"namespaces": []})) == set()
