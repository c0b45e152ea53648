package schedlint.rules["invalid-placement-fields_test"]

import data.schedlint.rules["invalid-placement-fields"] as subject

bad := {
	"id": 1,
	"w": 0,
	"stage": "fragment",
	"field": "spec.tolerations[0].operator",
	"reason": "operator is \"Exist\": must be Equal or Exists",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "invalid-placement-fields", "fact": 1, "reason": "invalid-placement-fields"}} with input as {"refusals": [bad]}
}

test_silent_about_objects if reported(object.union(bad, {"stage": "object"})) == set()

test_silent_about_pods if reported(object.union(bad, {"stage": "pods"})) == set()
