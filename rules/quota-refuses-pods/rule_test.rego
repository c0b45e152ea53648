package schedlint.rules["quota-refuses-pods_test"]

import data.schedlint.rules["quota-refuses-pods"] as subject

bad := {
	"id": 1,
	"w": 0,
	"stage": "quota",
	"field": "spec.replicas",
	"reason": "ResourceQuota small allows 2 of 3 pods",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "quota-refuses-pods", "fact": 1, "reason": "quota-refuses-pods"}} with input as {"refusals": [bad]}
}

test_silent_about_other_stages if reported(object.union(bad, {"stage": "pods"})) == set()

test_silent_about_the_object if reported(object.union(bad, {"stage": "object"})) == set()
