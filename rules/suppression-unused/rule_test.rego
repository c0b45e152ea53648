package schedlint.rules["suppression-unused_test"]

import data.schedlint.rules["suppression-unused"] as subject

bad := {
	"id": 1,
	"problem": "unused",
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
	subject.report == {{"rule": "suppression-unused", "fact": 1, "reason": "suppression-unused"}} with input as {"suppressions": [bad]}
}

test_passes if subject.report == set() with input as {"suppressions": []}

test_another_problem_is_silent if reported(object.union(bad, {"problem": "expired"})) == set()

test_unknown_problem_is_silent if reported(object.union(bad, {"problem": "unknown"})) == set()
