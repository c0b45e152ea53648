package schedlint.rules["upgrade.drain-leaves-pods-pending_test"]

import data.schedlint.rules["upgrade.drain-leaves-pods-pending"] as subject

web := {"id": 1, "w": 0, "outcome": "never", "pods": 3, "blocked_by": "", "node": "n1", "pending_max": 1, "blocks": false}

# reported gives the messages about one drain, with further input.
reported(drain, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"drains": [drain], "workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3}], "params": {"report_unknown": false}}, others)
}

test_reports if reported(web, {}) == {"Deployment shop/web: draining n1 leaves 1 of 3 pods Pending"}

test_next_drain if reported(object.union(web, {"blocks": true}), {}) == {"Deployment shop/web: draining n1 leaves 1 of 3 pods Pending, and its budget then refuses the next drain"}

test_sometimes if reported(object.union(web, {"outcome": "sometimes"}), {}) == {"Deployment shop/web: draining n1 can leave 1 of 3 pods Pending"}

test_passes if reported(object.union(web, {"outcome": "always"}), {}) == set()

test_refusal_is_another_rule if reported(object.union(web, {"blocked_by": "budget"}), {}) == set()

test_unknown_is_silent if reported(object.union(web, {"outcome": "unknown"}), {}) == set()

test_unknown if reported(object.union(web, {"outcome": "unknown"}), {"params": {"report_unknown": true}}) == {"Deployment shop/web: unknown whether its pods find another node in a drain"}
