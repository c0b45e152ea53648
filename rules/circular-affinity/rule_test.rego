package schedlint.rules["circular-affinity_test"]

import data.schedlint.rules["circular-affinity"] as subject

bad := {
	"id": 1,
	"w": 0,
	"members": [0, 1, 2, 0],
	"member": true,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"circles": [row]}
}

test_reports if {
	subject.report == {{"rule": "circular-affinity", "fact": 1, "reason": "circular-affinity"}} with input as {"circles": [bad]}
}

test_from_outside if {
	fact := object.union(bad, {"members": [1, 2, 1], "member": false})
	reported(fact) == {"circular-affinity"}
}

test_silent_without_circles if subject.report == set() with input as {"circles": []}
