package schedlint.rules["ha.not-restored-after-loss_test"]

import data.schedlint.rules["ha.not-restored-after-loss"] as subject

zone := {"id": 1, "w": 0, "outcome": "never", "key": "topology.kubernetes.io/zone", "value": "a", "like": 0, "required": false, "meaning": "both", "pods": 3, "pending_max": 2}

# reported gives the findings about one loss, with further input.
reported(loss, others) := findings if {
	findings := {r.given | some r in subject.report} with input as object.union({"losses": [loss], "workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 3}], "params": {"keys": ["node", "zone"], "min_pods": 2, "unreachable": false, "report_unknown": false}}, others)
}

found := {"reason": "not-restored-after-loss", "values": {"outcome": "never", "workload": "Deployment shop/web", "kind": "zone", "domain": "a", "like": 0, "pending": 2, "pods": 3, "least": 3}}

test_reports if reported(zone, {}) == {found}

test_sometimes if reported(object.union(zone, {"outcome": "sometimes"}), {}) == {object.union(found, {"values": {"outcome": "sometimes"}})}

test_passes if reported(object.union(zone, {"outcome": "always"}), {}) == set()

test_other_key if reported(zone, {"params": {"keys": ["node"]}}) == set()

test_gone if reported(object.union(zone, {"meaning": "gone"}), {}) == {found}

test_unreachable_is_left_out if reported(object.union(zone, {"meaning": "unreachable"}), {}) == set()

test_unreachable if reported(object.union(zone, {"meaning": "unreachable"}), {"params": {"unreachable": true}}) == {found}

test_required_is_left_to_other_rules if reported(object.union(zone, {"required": true}), {}) == set()

test_required_and_unknown if reported(object.union(zone, {"required": true, "outcome": "unknown"}), {"params": {"report_unknown": true}}) == {object.union(found, {"values": {"outcome": "unknown"}, "level": "note"})}

test_few_pods if reported(zone, {"workloads": [{"id": 9, "ref": "Deployment shop/web", "pods_min": 1}]}) == set()

test_unknown_is_silent if reported(object.union(zone, {"outcome": "unknown"}), {}) == set()

test_unknown if reported(object.union(zone, {"outcome": "unknown"}), {"params": {"report_unknown": true}}) == {object.union(found, {"values": {"outcome": "unknown"}, "level": "note"})}
