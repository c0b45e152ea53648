package schedlint.rules["capacity.autoscaler-exceeds-nodes_test"]

import data.schedlint.rules["capacity.autoscaler-exceeds-nodes"] as subject

web := {"id": 1, "w": 0, "outcome": "never", "object": "HorizontalPodAutoscaler shop/web", "max": 9, "fit": 6}

# reported gives the messages about one autoscaler, with further input.
reported(autoscaler, others) := messages if {
	messages := {r.said.message | some r in subject.report} with input as object.union({"autoscalers": [autoscaler], "workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3}], "params": {"report_unknown": false}}, others)
}

test_reports if reported(web, {}) == {"Deployment shop/web: HorizontalPodAutoscaler shop/web can scale to 9 pods, and only 6 fit"}

test_sometimes if reported(object.union(web, {"outcome": "sometimes"}), {}) == {"Deployment shop/web: HorizontalPodAutoscaler shop/web can scale to 9 pods, which do not always fit"}

test_passes if reported(object.union(web, {"outcome": "always"}), {}) == set()

test_unknown_is_silent if reported(object.union(web, {"outcome": "unknown"}), {}) == set()

test_unknown if reported(object.union(web, {"outcome": "unknown"}), {"params": {"report_unknown": true}}) == {"Deployment shop/web: unknown whether the 9 pods to which HorizontalPodAutoscaler shop/web can scale fit"}
