package schedlint.rules["rollout-deadlock_test"]

import data.schedlint.rules["rollout-deadlock"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"way": "rolling",
	"surge": 1,
	"unavailable": 0,
	"replicas": 3,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"rollouts": [row]}
}

test_reports if {
	subject.report == {{"rule": "rollout-deadlock", "fact": 1, "reason": "rollout-deadlock"}} with input as {"rollouts": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_sometimes_is_another_rule if reported(object.union(bad, {"outcome": "sometimes"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_recreate if reported(object.union(bad, {"way": "recreate"})) == {"rollout-deadlock"}

test_with_others if reported(object.union(bad, {"others": [1]})) == {"rollout-deadlock"}
