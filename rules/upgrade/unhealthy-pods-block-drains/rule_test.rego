package schedlint.rules["upgrade.unhealthy-pods-block-drains_test"]

import data.schedlint.rules["upgrade.unhealthy-pods-block-drains"] as subject

web := {"id": 3, "w": 1, "object": "PodDisruptionBudget shop/web", "unhealthy_policy": "IfHealthyBudget", "problem": "none", "allowed_min": 1, "amount": {"of": 3}, "selects": [1]}

workloads := [{"id": 1, "labels": {}, "pod_labels": {"app": "api"}}, {"id": 2, "labels": {}, "pod_labels": {"app": "web"}}]

# reported gives the findings about the budget after a change.
reported(change, wanted) := findings if {
	given := object.union({"budgets": [object.union(web, change)]}, {"workloads": workloads})
	findings := {r.given | some r in subject.report} with input as object.union(given, {"params": {"labels": wanted}})
}

found := {"reason": "unhealthy-pods-block-drains", "values": {"budget": "PodDisruptionBudget shop/web"}}

test_reports if reported({}, []) == {found}

test_labels if {
	reported({}, ["app=web"]) == {found}
	reported({}, ["app=api"]) == set()
}

test_passes if reported({"unhealthy_policy": "AlwaysAllow"}, []) == set()

test_other_faults if {
	reported({"problem": "no-eviction"}, []) == set()
	reported({"allowed_min": 3}, []) == set()
	reported({"selects": [0, 1]}, []) == set()
}

test_unknown_is_silent if {
	reported({"unhealthy_policy": "unknown"}, []) == set()
	reported({"allowed_min": 0, "amount": {"of": 0}}, []) == set()
}
