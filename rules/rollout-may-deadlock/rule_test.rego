package schedlint.rules["rollout-may-deadlock_test"]

import data.schedlint.rules["rollout-may-deadlock"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "sometimes",
	"way": "rolling",
	"surge": 1,
	"unavailable": 0,
	"replicas": 3,
	"stuck": true,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"rollouts": [row]}
}

test_reports if {
	subject.report == {{"rule": "rollout-may-deadlock", "fact": 1, "reason": "rollout-may-deadlock"}} with input as {"rollouts": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_never_is_another_rule if reported(object.union(bad, {"outcome": "never"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_without_a_state if reported(object.union(bad, {"stuck": false})) == {"rollout-may-deadlock"}
