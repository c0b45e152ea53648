package schedlint.rules["drained-pods-return_test"]

import data.schedlint.rules["drained-pods-return"] as subject

bad := {"id": 1, "w": 0, "outcome": "sometimes", "pods": 2, "blocked_by": "toleration"}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"drains": [row]}
}

test_reports if {
	subject.report == {{"rule": "drained-pods-return", "fact": 1, "reason": "drained-pods-return"}} with input as {"drains": [bad]}
}

test_budgets_are_silent if reported(object.union(bad, {"blocked_by": "budget"})) == set()

test_passes if reported(object.union(bad, {"blocked_by": ""})) == set()
