package schedlint.rules["rejected-with-feature-gate_test"]

import data.schedlint.rules["rejected-with-feature-gate"] as subject

bad := {
	"id": 1,
	"w": 0,
	"stage": "gate",
	"gate": "MaxUnavailableStatefulSet",
	"field": "spec.updateStrategy.rollingUpdate.maxUnavailable",
	"reason": "maxUnavailable is 0: must be above 0",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "rejected-with-feature-gate", "fact": 1, "reason": "rejected-with-feature-gate"}} with input as {"refusals": [bad]}
}

test_silent_about_objects if reported(object.union(bad, {"stage": "object", "gate": ""})) == set()

test_silent_about_pods if reported(object.union(bad, {"stage": "pods", "gate": ""})) == set()
