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
	"hangs": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.given.reason | some d in subject.report} with input as {"rollouts": [row]}
}

test_reports if {
	subject.report == {{"rule": "rollout-may-deadlock", "fact": 1, "given": {"reason": "rollout-may-deadlock"}}} with input as {"rollouts": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_never_is_another_rule if reported(object.union(bad, {"outcome": "never"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_without_a_state if reported(object.union(bad, {"stuck": false})) == {"rollout-may-deadlock"}

test_of_a_volume_is_another_rule if reported(object.union(bad, {"hangs": "data"})) == set()

test_rare_is_a_note if {
	row := object.union(bad, {"typical": {"runs": 200, "shown": 2, "preempts": 0}, "outcome": "sometimes"})
	{d.given.level | some d in subject.report} == {"note"} with input as {"rollouts": [row]}
}
