package schedlint.rules["drain-strands-volumes_test"]

import data.schedlint.rules["drain-strands-volumes"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"pods": 3,
	"node": "n1",
	"blocked_by": "",
	"pending_min": 1,
	"pending_max": 1,
	"blocks": false,
	"waits": "node",
}

# levels gives the levels of what is reported of one row.
levels(row) := all if {
	all := {object.get(d.given, "level", "") | some d in subject.report} with input as {"drains": [row]}
}

test_reports if {
	subject.report == {{"rule": "drain-strands-volumes", "fact": 1, "given": {"reason": "drain-strands-volumes", "level": "note"}}} with input as {"drains": [bad]}
}

test_no_volumes if levels(object.union(bad, {"waits": ""})) == set()

test_passes if levels(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if levels(object.union(bad, {"outcome": "unknown"})) == set()

test_all_pods if levels(object.union(bad, {"pending_max": 3})) == {""}

test_majority if levels(object.union(bad, {"pending_max": 2})) == {""}

test_budget if levels(object.union(bad, {"blocks": true})) == {""}

test_one_of_two_is_a_note if levels(object.union(bad, {"pods": 2})) == {"note"}

test_single_pod_and_its_node if levels(object.union(bad, {"pods": 1})) == set()

test_single_pod_and_its_zone if levels(object.union(bad, {"pods": 1, "waits": "zone"})) == {"note"}
