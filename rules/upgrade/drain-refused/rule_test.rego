package schedlint.rules["upgrade.drain-refused_test"]

import data.schedlint.rules["upgrade.drain-refused"] as subject

web := {"id": 1, "w": 0, "outcome": "never", "pods": 3, "blocked_by": "budget"}

# reported gives the messages about one drain, with further input.
reported(drain, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"drains": [drain], "workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3, "budgets": [{"id": 2}]}], "params": {"report_unknown": false}}, others)
}

test_reports if reported(web, {}) == {"Deployment shop/web: a drain cannot evict its pods (3): the PodDisruptionBudgets that select them refuse"}

test_machines if reported(object.union(web, {"blocked_by": "eviction-strategy", "outcome": "sometimes"}), {}) == {"Deployment shop/web: a drain cannot evict its pods (3): they have to migrate first and cannot"}

test_passes if reported(object.union(web, {"outcome": "always", "blocked_by": ""}), {}) == set()

test_pending_is_another_rule if reported(object.union(web, {"blocked_by": ""}), {}) == set()

test_single_pod if reported(object.union(web, {"pods": 1}), {}) == set()

test_single_pod_with_two_budgets if reported(object.union(web, {"pods": 1}), {"workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3, "budgets": [{"id": 2}, {"id": 3}]}]}) == {"Deployment shop/web: a drain cannot evict its pods (1): the PodDisruptionBudgets that select them refuse"}

test_single_machine if reported(object.union(web, {"pods": 1, "blocked_by": "eviction-strategy"}), {}) == {"Deployment shop/web: a drain cannot evict its pods (1): they have to migrate first and cannot"}

test_unknown_is_silent if reported(object.union(web, {"outcome": "unknown", "blocked_by": "eviction-strategy"}), {}) == set()

test_unknown if reported(object.union(web, {"outcome": "unknown", "blocked_by": "eviction-strategy"}), {"params": {"report_unknown": true}}) == {"Deployment shop/web: a drain cannot evict its pods (3): they have to migrate first and cannot (possibly)"}
