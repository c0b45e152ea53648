package schedlint.rules["alias-bomb_test"]

import data.schedlint.rules["alias-bomb"] as subject

bad := {
	"id": 1,
	"problem": "alias-bomb",
	"detail": "aliases expand to more than 1000 values",
	"first_line": 0,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"documents": [row]}
}

test_reports if {
	subject.report == {{"rule": "alias-bomb", "fact": 1, "reason": "alias-bomb"}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if reported(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if reported(object.union(bad, {"problem": ""})) == set()
