package schedlint.rules["ha.no-disruption-budget_test"]

import data.schedlint.rules["ha.no-disruption-budget"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "namespace": "shop", "known": true, "permanent": true, "pods_min": 3, "budgets": [], "machine": {"is": false}}

# reported gives the findings about one workload, with further input.
reported(workload, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"workloads": [workload], "params": {"min_pods": 2}}, others)
}

test_reports if reported(web, {}) == {{"reason": "no-disruption-budget", "values": {"workload": "Deployment shop/web", "pods": 3}}}

test_passes if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web"}]}), {}) == set()

test_finite_pods if reported(object.union(web, {"permanent": false}), {}) == set()

test_few_pods if reported(web, {"params": {"min_pods": 4}}) == set()

test_machines if reported(object.union(web, {"machine": {"is": true}}), {}) == set()

test_unknown_is_silent if reported(object.union(web, {"known": false}), {}) == set()

test_unknown_budget if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "selects": "unknown"}]}), {}) == set()
