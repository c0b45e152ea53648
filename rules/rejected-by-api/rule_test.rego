package schedlint.rules["rejected-by-api_test"]

import data.schedlint.rules["rejected-by-api"] as subject

bad := {
	"id": 1,
	"w": 0,
	"stage": "object",
	"field": "spec.template.spec.containers",
	"reason": "Required value",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "rejected-by-api", "fact": 1, "reason": "rejected-by-api"}} with input as {"refusals": [bad]}
}

test_silent_about_pods if reported(object.union(bad, {"stage": "pods"})) == set()

test_silent_about_other_stages if reported(object.union(bad, {"stage": ""})) == set()
