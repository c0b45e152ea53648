package schedlint.rules["ha.rollout-gets-stuck_test"]

import data.schedlint.rules["ha.rollout-gets-stuck"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "pods_min": 3, "answers": {"rolls": "never"}}

# reported gives the messages about one workload, with further input.
reported(workload, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"workloads": [workload], "params": {"min_pods": 1, "report_unknown": false}}, others)
}

test_reports if reported(web, {}) == {"Deployment shop/web: a rollout of its pods (3) never completes"}

test_sometimes if reported(object.union(web, {"answers": {"rolls": "sometimes"}}), {}) == {"Deployment shop/web: a rollout of its pods (3) can get stuck"}

test_passes if reported(object.union(web, {"answers": {"rolls": "always"}}), {}) == set()

test_no_rollout if reported(object.union(web, {"answers": {"rolls": "none"}}), {}) == set()

test_few_pods if reported(web, {"params": {"min_pods": 4}}) == set()

test_unknown_is_silent if reported(object.union(web, {"answers": {"rolls": "unknown"}}), {}) == set()

test_unknown if reported(object.union(web, {"answers": {"rolls": "unknown"}}), {"params": {"report_unknown": true}}) == {"Deployment shop/web: unknown whether a rollout of its pods completes"}
