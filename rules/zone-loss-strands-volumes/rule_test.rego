package schedlint.rules["zone-loss-strands-volumes_test"]

import data.schedlint.rules["zone-loss-strands-volumes"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"required": true,
	"key": "topology.kubernetes.io/zone",
	"value": "a",
	"meaning": "gone",
	"pods": 3,
	"pending_min": 1,
	"pending_max": 1,
	"recreated": true,
	"waits": "zone",
}

# levels gives the levels of what is reported of one row.
levels(row) := all if {
	all := {object.get(d.given, "level", "") | some d in subject.report} with input as {"losses": [row]}
}

test_reports if {
	subject.report == {{"rule": "zone-loss-strands-volumes", "fact": 1, "given": {"reason": "zone-loss-strands-volumes", "level": "note"}}} with input as {"losses": [bad]}
}

test_no_volumes if levels(object.union(bad, {"waits": ""})) == set()

test_passes if levels(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if levels(object.union(bad, {"outcome": "unknown"})) == set()

test_nodes_are_another_rule if levels(object.union(bad, {"key": "kubernetes.io/hostname"})) == set()

test_not_required_is_silent if levels(object.union(bad, {"required": false})) == set()

test_all_pods if levels(object.union(bad, {"pending_max": 3})) == {""}

test_majority if levels(object.union(bad, {"pending_max": 2})) == {""}
