package schedlint.rules["pods-rejected-by-api_test"]

import data.schedlint.rules["pods-rejected-by-api"] as subject

bad := {
	"id": 1,
	"w": 0,
	"stage": "pods",
	"field": "spec.template.spec.tolerations[0].operator",
	"reason": "Unsupported value: \"Is\"",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "pods-rejected-by-api", "fact": 1, "reason": "pods-rejected-by-api"}} with input as {"refusals": [bad]}
}

test_silent_about_the_object if reported(object.union(bad, {"stage": "object"})) == set()

test_silent_about_other_stages if reported(object.union(bad, {"stage": ""})) == set()
