package schedlint.rules["suppression-names-no-rule_test"]

import data.schedlint.rules["suppression-names-no-rule"] as subject

bad := {
	"id": 1,
	"problem": "names-no-rule",
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
	subject.report == {{"rule": "suppression-names-no-rule", "fact": 1, "reason": "suppression-names-no-rule"}} with input as {"suppressions": [bad]}
}

test_no_name if reported(object.union(bad, {"rule": "", "target": ""})) == {"suppression-names-no-rule"}

test_passes if subject.report == set() with input as {"suppressions": []}

test_another_problem_is_silent if reported(object.union(bad, {"problem": "unused"})) == set()

test_unknown_problem_is_silent if reported(object.union(bad, {"problem": "unknown"})) == set()
