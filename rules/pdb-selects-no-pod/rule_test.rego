package schedlint.rules["pdb-selects-no-pod_test"]

import data.schedlint.rules["pdb-selects-no-pod"] as subject

bad := {
	"id": 1,
	"w": -1,
	"object": "PodDisruptionBudget shop/web",
	"problem": "idle",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"budgets": [row]}
}

test_reports if {
	subject.report == {{"rule": "pdb-selects-no-pod", "fact": 1, "reason": "pdb-selects-no-pod"}} with input as {"budgets": [bad]}
}

test_no_eviction_is_another_rule if reported(object.union(bad, {"problem": "no-eviction"})) == set()

test_several_is_another_rule if reported(object.union(bad, {"problem": "several"})) == set()
