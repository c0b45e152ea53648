package schedlint.rules["drain-blocked_test"]

import data.schedlint.rules["drain-blocked"] as subject

bad := {
	"id": 1,
	"w": 0,
	"object": "PodDisruptionBudget shop/web",
	"problem": "no-eviction",
	"selects": [0],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"budgets": [row]}
}

test_reports if {
	subject.report == {{"rule": "drain-blocked", "fact": 1, "reason": "budget-allows-nothing"}} with input as {"budgets": [bad]}
}

test_small_sizes if reported(object.union(bad, {"problem": "no-eviction-while-small"})) == {"budget-allows-nothing"}

test_several if reported(object.union(bad, {"problem": "several"})) == {"several-budgets"}

test_idle_is_another_rule if reported(object.union(bad, {"problem": "idle"})) == set()

test_unknown_problems_are_silent if reported(object.union(bad, {"problem": ""})) == set()
