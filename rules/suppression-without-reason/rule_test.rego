package schedlint.rules["suppression-without-reason_test"]

import data.schedlint.rules["suppression-without-reason"] as subject

bad := {
	"id": 1,
	"problem": "without-reason",
	"by": "comment",
	"rule": "rollout-deadlock",
	"target": "Deployment shop/web",
	"reason": "accepted",
	"until": "",
	"dated": false,
	"suggestion": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"suppressions": [row]}
}

test_reports if {
	subject.report == {{"rule": "suppression-without-reason", "fact": 1, "reason": "suppression-without-reason"}} with input as {"suppressions": [bad]}
}

test_passes if subject.report == set() with input as {"suppressions": []}

test_another_problem_is_silent if reported(object.union(bad, {"problem": "unused"})) == set()

test_unknown_problem_is_silent if reported(object.union(bad, {"problem": "unknown"})) == set()
