package schedlint.rules["upgrade.scale-down-blocked_test"]

import data.schedlint.rules["upgrade.scale-down-blocked"] as subject

web := {"id": 1, "ref": "Deployment shop/web", "permanent": true, "bare": false, "pod_annotations": {"safe": "false", "other": "1"}}

# reported gives the findings about the workload after a change.
reported(change) := findings if {
	given := {"workloads": [object.union(web, change)], "params": {"annotations": ["safe=false", "keep=true"]}}
	findings := {r.given | some r in subject.report} with input as given
}

test_reports if {
	found := {"reason": "scale-down-blocked", "values": {"workload": "Deployment shop/web", "annotations": ["safe=false"]}, "path": ["spec", "template", "metadata", "annotations", "safe"]}
	reported({}) == {found}
}

test_reports_all if {
	{finding.values.annotations | some finding in reported({"pod_annotations": {"safe": "false", "keep": "true"}})} == {["safe=false", "keep=true"]}
}

test_passes if reported({"pod_annotations": {"safe": "true"}}) == set()

test_finite_pods if reported({"permanent": false}) == set()

test_pods_without_a_controller if reported({"bare": true}) == set()

test_unknown_is_silent if reported({"pod_annotations": {"safe": "${SAFE}"}}) == set()
