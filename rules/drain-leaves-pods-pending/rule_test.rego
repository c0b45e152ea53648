package schedlint.rules["drain-leaves-pods-pending_test"]

import data.schedlint.rules["drain-leaves-pods-pending"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"pods": 3,
	"node": "n1",
	"blocked_by": "",
	"pending_min": 1,
	"pending_max": 1,
	"blocks": true,
	"waits": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.given.reason | some d in subject.report} with input as {"drains": [row]}
}

test_reports if {
	subject.report == {{"rule": "drain-leaves-pods-pending", "fact": 1, "given": {"reason": "drain-leaves-pods-pending"}}} with input as {"drains": [bad]}
}

test_sometimes if reported(object.union(bad, {"outcome": "sometimes", "pending_min": 0})) == {"drain-leaves-pods-pending"}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_a_refused_eviction_is_another_rule if reported(object.union(bad, {"node": "", "blocked_by": "budget"})) == set()

test_volumes_are_another_rule if reported(object.union(bad, {"waits": "node"})) == set()

test_rare_is_a_note if {
	row := object.union(bad, {"typical": {"runs": 200, "shown": 2, "preempts": 0}, "outcome": "sometimes"})
	{d.given.level | some d in subject.report} == {"note"} with input as {"drains": [row]}
}
