package schedlint.rules["limit-range-refuses-pods_test"]

import data.schedlint.rules["limit-range-refuses-pods"] as subject

bad := {
	"id": 1,
	"w": 0,
	"stage": "limits",
	"field": "spec.template.spec.containers[0].resources.limits.cpu",
	"reason": "limit of 4 cpu exceeds the maximum of 2 per container",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "limit-range-refuses-pods", "fact": 1, "reason": "limit-range-refuses-pods"}} with input as {"refusals": [bad]}
}

test_silent_about_other_stages if reported(object.union(bad, {"stage": "pods"})) == set()

test_silent_about_the_object if reported(object.union(bad, {"stage": "object"})) == set()
