package schedlint.rules["render-failed_test"]

import data.schedlint.rules["render-failed"] as subject

bad := {
	"id": 1,
	"problem": "render-failed",
	"detail": "what says so",
	"first_line": 0,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"documents": [row]}
}

test_reports if {
	subject.report == {{"rule": "render-failed", "fact": 1, "reason": "render-failed"}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if reported(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if reported(object.union(bad, {"problem": ""})) == set()
