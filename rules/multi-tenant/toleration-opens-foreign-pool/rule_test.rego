package schedlint.rules["multi-tenant.toleration-opens-foreign-pool_test"]

import data.schedlint.rules["multi-tenant.toleration-opens-foreign-pool"] as subject

web := {
	"id": 1, "ref": "Deployment red/web", "namespace": "red",
	"tolerations": [{"id": 2, "pools": ["blue-1", "general", "red-1"]}],
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

test_reports if reported(web) == {{"reason": "toleration-opens-foreign-pool", "values": {"workload": "Deployment red/web", "pools": ["blue-1"]}}}

test_stands_at_the_toleration if {
	{r.fact | some r in subject.report} == {2} with input as {"workloads": [web], "params": {
		"tenants": [{"name": "blue", "namespaces": ["blue"], "pools": ["blue-*"]}],
		"platform_namespaces": [],
	}}
}

test_passes if reported(object.union(web, {"tolerations": [{"id": 2, "pools": ["general", "red-1"]}]})) == set()

test_own if reported(object.union(web, {"tolerations": [{"id": 2, "pools": ["red-1"]}]})) == set()

test_platform if reported(object.union(web, {"namespace": "kube-system"})) == set()

test_open_namespace if {
	reported(object.union(web, {"namespace": ""})) == set()
	reported(object.union(web, {"namespace": "${NAMESPACE}"})) == set()
}

test_unknown_is_silent if reported(object.union(web, {"tolerations": [{"id": 2, "pools": []}]})) == set()
