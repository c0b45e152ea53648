package schedlint.rules["upgrade.rollout-gets-stuck_test"]

import data.schedlint.rules["upgrade.rollout-gets-stuck"] as subject

web := {"id": 1, "w": 0, "outcome": "never", "replicas": 3, "surge": 1, "unavailable": 0}

# reported gives the messages about one rollout, with further input.
reported(rollout, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"rollouts": [rollout], "workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3}], "params": {"report_unknown": false}}, others)
}

test_reports if reported(web, {}) == {"Deployment shop/web: a rollout never completes (replicas 3, surge 1, unavailable 0)"}

test_sometimes if reported(object.union(web, {"outcome": "sometimes"}), {}) == {"Deployment shop/web: a rollout can get stuck (replicas 3, surge 1, unavailable 0)"}

test_passes if reported(object.union(web, {"outcome": "always"}), {}) == set()

test_unknown_is_silent if reported(object.union(web, {"outcome": "unknown"}), {}) == set()

test_unknown if reported(object.union(web, {"outcome": "unknown"}), {"params": {"report_unknown": true}}) == {"Deployment shop/web: unknown whether a rollout completes"}
