package schedlint.rules["upgrade.single-pod_test"]

import data.schedlint.rules["upgrade.single-pod"] as subject

web := {
	"id": 1, "ref": "Deployment shop/web", "known": true, "permanent": true, "pods_min": 1, "bare": false, "machine": {"is": false},
	"budgets": [{"id": 2, "allowed_min": 1, "allowed_max": 1}], "labels": {"tier": "front"}, "pod_labels": {},
}

# refusing is the workload with a budget that allows no disruptions.
refusing := object.union(web, {"id": 1, "budgets": [{"id": 2, "allowed_min": 0, "allowed_max": 0}]})

# reported gives the findings about one workload.
reported(workload) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [workload], "params": {"labels": []}}
}

# labelled gives them where only workloads with a label count.
labelled(label) := findings if {
	findings := {r.given | some r in subject.report} with input as {"workloads": [web], "params": {"labels": [label]}}
}

test_reports if reported(web) == {{"reason": "single-pod", "values": {"workload": "Deployment shop/web"}}}

test_passes if reported(object.union(web, {"pods_min": 2})) == set()

test_refused_drains_are_left_to_another_rule if reported(refusing) == set()

test_no_controller if reported(object.union(web, {"bare": true})) == set()

test_finite_pods if reported(object.union(web, {"permanent": false})) == set()

test_machines if reported(object.union(web, {"machine": {"is": true}})) == set()

test_labels if {
	labelled("tier=front") == reported(web)
	labelled("tier=back") == set()
}

test_unknown_is_silent if {
	reported(object.union(web, {"known": false})) == set()
	reported(object.union(web, {"pods_min": 0})) == set()
	reported(object.union(web, {"id": 1, "budgets": [{"id": 2, "allowed_min": 0, "allowed_max": 2147483647}]})) == set()
}
