package schedlint.rules["upgrade.single-pod-with-budget_test"]

import data.schedlint.rules["upgrade.single-pod-with-budget"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "pods_min": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_max": 0}]}

# reported gives the messages about one workload, with further input.
reported(workload, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"workloads": [workload]}, others)
}

test_reports if reported(web, {}) == {"PodDisruptionBudget shop/web never allows the eviction of the one pod of Deployment shop/web"}

test_passes if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_max": 1}]}), {}) == set()

test_more_pods if reported(object.union(web, {"pods_min": 2}), {}) == set()

test_unknown_is_silent if reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "ref": "PodDisruptionBudget shop/web", "allowed_max": 2147483647}]}), {}) == set()
