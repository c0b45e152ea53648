package schedlint.rules["multi-tenant.placement-unknown_test"]

import data.schedlint.rules["multi-tenant.placement-unknown"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "namespace": "shop", "placement_known": false}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {"platform_namespaces": ["kube-*"]}}
}

test_unknown_reports if {
	reported(web) == {{"reason": "placement-unknown", "values": {"workload": "Deployment shop/web"}}}
}

test_passes if reported(object.union(web, {"placement_known": true})) == set()

test_platform if reported(object.union(web, {"namespace": "kube-system"})) == set()
