package schedlint.rules["suppression-expired_test"]

import data.schedlint.rules["suppression-expired"] as subject

bad := {
	"id": 1,
	"problem": "expired",
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
	subject.report == {{"rule": "suppression-expired", "fact": 1, "reason": "suppression-expired"}} with input as {"suppressions": [bad]}
}

test_no_day if {
	reported(object.union(bad, {"until": "soon", "target": ""})) == {"suppression-expired"}
}

test_baseline if {
	fact := object.union(bad, {"by": "baseline", "rule": "", "target": "", "until": "2026-01-31", "dated": true})
	reported(fact) == {"suppression-expired"}
}

test_passes if subject.report == set() with input as {"suppressions": []}

test_another_problem_is_silent if reported(object.union(bad, {"problem": "unused"})) == set()

test_unknown_problem_is_silent if reported(object.union(bad, {"problem": "unknown"})) == set()
