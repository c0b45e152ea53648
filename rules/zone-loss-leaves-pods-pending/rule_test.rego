package schedlint.rules["zone-loss-leaves-pods-pending_test"]

import data.schedlint.rules["zone-loss-leaves-pods-pending"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"required": true,
	"key": "topology.kubernetes.io/zone",
	"value": "a",
	"meaning": "both",
	"pods": 3,
	"pending_min": 1,
	"pending_max": 1,
	"recreated": true,
	"waits": "",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.given.reason | some d in subject.report} with input as {"losses": [row]}
}

test_reports if {
	subject.report == {{"rule": "zone-loss-leaves-pods-pending", "fact": 1, "given": {"reason": "zone-loss-leaves-pods-pending"}}} with input as {"losses": [bad]}
}

test_sometimes if reported(object.union(bad, {"outcome": "sometimes", "pending_min": 0})) == {"zone-loss-leaves-pods-pending"}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_nodes_are_another_rule if reported(object.union(bad, {"key": "kubernetes.io/hostname"})) == set()

test_other_keys if reported(object.union(bad, {"key": "rack"})) == {"zone-loss-leaves-pods-pending"}

test_not_required_is_silent if reported(object.union(bad, {"required": false})) == set()

test_volumes_are_another_rule if reported(object.union(bad, {"waits": "zone"})) == set()

test_rare_is_a_note if {
	row := object.union(bad, {"typical": {"runs": 200, "shown": 2, "preempts": 0}, "outcome": "sometimes"})
	{d.given.level | some d in subject.report} == {"note"} with input as {"losses": [row]}
}
