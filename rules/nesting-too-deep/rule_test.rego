package schedlint.rules["nesting-too-deep_test"]

import data.schedlint.rules["nesting-too-deep"] as subject

bad := {
	"id": 1,
	"problem": "nesting-too-deep",
	"detail": "more than 200 levels",
	"first_line": 0,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"documents": [row]}
}

test_reports if {
	subject.report == {{"rule": "nesting-too-deep", "fact": 1, "reason": "nesting-too-deep"}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if reported(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if reported(object.union(bad, {"problem": ""})) == set()
