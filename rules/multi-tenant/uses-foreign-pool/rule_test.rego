package schedlint.rules["multi-tenant.uses-foreign-pool_test"]

import data.schedlint.rules["multi-tenant.uses-foreign-pool"] as subject

web := {
	"id": 1, "ref": "Deployment red/web", "namespace": "red",
	"placement_known": true, "pools": ["blue-1", "general", "red-1"], "tolerations": [],
}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {
		"tenants": [
			{"name": "blue", "namespaces": ["blue-*"], "pools": ["blue-*"]},
			{"name": "red", "namespaces": ["red"], "pools": ["red-*"]},
		],
		"platform_namespaces": ["kube-*"],
	}}
}

found := {"reason": "uses-foreign-pool", "values": {"workload": "Deployment red/web", "pools": ["blue-1"]}}

test_reports if reported(web) == {found}

test_no_tenant if {
	reported(object.union(web, {"namespace": "shop"})) == {object.union(found, {"values": {"pools": ["blue-1", "red-1"]}})}
}

test_passes if reported(object.union(web, {"pools": ["red-1", "general"]})) == set()

test_platform if reported(object.union(web, {"namespace": "kube-system"})) == set()

test_open_namespace if {
	reported(object.union(web, {"namespace": ""})) == set()
	reported(object.union(web, {"namespace": "${NAMESPACE}"})) == set()
}

test_opened_by_a_toleration if {
	reported(object.union(web, {"tolerations": [{"id": 2, "pools": ["general"]}, {"id": 3, "pools": ["blue-1"]}]})) == set()
}

unknown := object.union(web, {"placement_known": false, "pools": []})

test_unknown_is_silent if reported(unknown) == set()
