package schedlint.rules["alias-cycle_test"]

import data.schedlint.rules["alias-cycle"] as subject

bad := {
	"id": 1,
	"problem": "alias-cycle",
	"detail": "anchor &a contains itself",
	"first_line": 0,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"documents": [row]}
}

test_reports if {
	subject.report == {{"rule": "alias-cycle", "fact": 1, "reason": "alias-cycle"}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if reported(object.union(bad, {"problem": "alias-bomb"})) == set()

test_silent_about_unknown_problems if reported(object.union(bad, {"problem": ""})) == set()
