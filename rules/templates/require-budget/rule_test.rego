package schedlint.rules["require-budget_test"]

import data.schedlint.rules["require-budget"] as subject

bare := {"id": 1, "ref": "Deployment shop/web", "known": true, "permanent": true, "pods_min": 2, "budgets": []}

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {"min_pods": 2}}
}

test_reports if reported(bare) == {{"reason": "no-disruption-budget", "values": {"workload": "Deployment shop/web", "pods": 2}}}

test_passes if reported(object.union(bare, {"budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web"}]})) == set()

test_unknown_budget_is_silent if reported(object.union(bare, {"id": 1, "budgets": [{"id": 2, "selects": "unknown"}]})) == set()

test_one_pod_needs_none if reported(object.union(bare, {"pods_min": 1})) == set()

test_finite_pods_need_none if reported(object.union(bare, {"permanent": false})) == set()

test_unknown_is_silent if reported(object.union(bare, {"known": false})) == set()
