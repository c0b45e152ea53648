package schedlint.rules["multi-tenant.placement-unknown_test"]

import data.schedlint.rules["multi-tenant.placement-unknown"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "namespace": "shop", "placement_known": false}

# reported gives the messages about one workload.
reported(workload) := messages if {
	messages := {r.said.message | some r in subject.report} with input as {"workloads": [workload], "params": {"platform_namespaces": ["kube-*"]}}
}

test_unknown_reports if {
	reported(web) == {"Deployment shop/web: which pools it can use is unknown, so the isolation of tenants is not proved"}
}

test_passes if reported(object.union(web, {"placement_known": true})) == set()

test_platform if reported(object.union(web, {"namespace": "kube-system"})) == set()
