package schedlint.rules["autoscalers-inactive_test"]

import data.schedlint.rules["autoscalers-inactive"] as subject

bad := {"id": 1, "w": 0, "outcome": "none", "object": "HorizontalPodAutoscaler web", "rivals": ["ScaledObject web"]}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"autoscalers": [row]}
}

test_reports if {
	subject.report == {{"rule": "autoscalers-inactive", "fact": 1, "reason": "autoscalers-inactive"}} with input as {"autoscalers": [bad]}
}

test_active_is_silent if reported(object.union(bad, {"outcome": "always"})) == set()

test_passes if reported(object.union(bad, {"rivals": []})) == set()
