package schedlint.rules["multi-tenant.outside-own-pools_test"]

import data.schedlint.rules["multi-tenant.outside-own-pools"] as subject

web := {
	"id": 1, "ref": "Deployment blue-1/web", "namespace": "blue-1",
	"placement_known": true, "pools": ["blue-1", "general", "red-1"], "usable_poolless": 0,
}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {
		"tenants": [
			{"name": "blue", "namespaces": ["blue-*"], "pools": ["blue-*"]},
			{"name": "red", "namespaces": ["red"], "pools": ["red-*"]},
			{"name": "open", "namespaces": ["open"], "pools": []},
		],
	}}
}

found := {"reason": "outside-own-pools", "values": {"workload": "Deployment blue-1/web", "tenant": "blue", "pools": ["general"], "poolless": 0}}

test_reports if reported(web) == {found}

test_pools_of_other_tenants_are_left_to_other_rules if reported(object.union(web, {"pools": ["blue-1", "red-1"]})) == set()

test_passes if reported(object.union(web, {"pools": ["blue-1", "blue-2"]})) == set()

test_poolless if {
	reported(object.union(web, {"pools": ["blue-1"], "usable_poolless": 3})) == {object.union(found, {"values": {"pools": [], "poolless": 3}})}
}

test_no_tenant if reported(object.union(web, {"namespace": "shop"})) == set()

test_tenant_without_pools if reported(object.union(web, {"namespace": "open", "usable_poolless": 3})) == set()

unknown := object.union(web, {"placement_known": false, "pools": []})

test_unknown_is_silent if reported(unknown) == set()
