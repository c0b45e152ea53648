package schedlint.rules["ha.stays-on-lost-node_test"]

import data.schedlint.rules["ha.stays-on-lost-node"] as subject

web := {
	"id": 1, "ref": "Deployment shop/web", "permanent": true,
	"tolerations": [{"id": 2, "key": "node.kubernetes.io/unreachable", "operator": "Exists", "value": "", "effect": "NoExecute", "seconds": -1, "known": true}],
}

# found are the places and the taints of the findings about the workload after a change.
found(change) := all if {
	all := {[r.fact, r.given.values.taints] | some r in subject.report} with input as {"workloads": [object.union(web, change)]}
}

# tolerating is the workload with one other toleration.
tolerating(key, operator, value, effect, seconds) := {"tolerations": [{"id": 2, "key": key, "operator": operator, "value": value, "effect": effect, "seconds": seconds, "known": true}]}

unreachable := "node.kubernetes.io/unreachable"

not_ready := "node.kubernetes.io/not-ready"

test_reports if {
	found({}) == {[2, [unreachable]]}
	{r.given | some r in subject.report} == {{"reason": "stays-on-lost-node", "values": {"workload": "Deployment shop/web", "taints": [unreachable]}}} with input as {"workloads": [web]}
}

test_reports_both_once if {
	found(tolerating("", "Exists", "", "", -1)) == {[2, [not_ready, unreachable]]}
	found(tolerating("", "Exists", "", "NoExecute", -1)) == {[2, [not_ready, unreachable]]}
}

test_reports_equal_without_a_value if {
	found(tolerating(not_ready, "Equal", "", "", -1)) == {[2, [not_ready]]}
	found(tolerating(not_ready, "Equal", "true", "", -1)) == set()
	found(tolerating(not_ready, "Gt", "", "", -1)) == set()
}

test_passes if {
	found(tolerating(unreachable, "Exists", "", "NoExecute", 300)) == set()
	found(tolerating(unreachable, "Exists", "", "NoSchedule", -1)) == set()
	found(tolerating("spot", "Exists", "", "", -1)) == set()
}

first_counts := {"tolerations": [
	{"id": 2, "key": "node.kubernetes.io/unreachable", "operator": "Exists", "value": "", "effect": "NoExecute", "seconds": 60, "known": true},
	{"id": 3, "key": "", "operator": "Exists", "value": "", "effect": "", "seconds": -1, "known": true},
]}

test_first_toleration_counts if found(first_counts) == {[3, [not_ready]]}

test_finite_pods if found({"permanent": false}) == set()

test_unknown_is_silent if {
	found({"tolerations": [{"id": 2, "key": "node.kubernetes.io/unreachable", "operator": "Exists", "value": "", "effect": "NoExecute", "seconds": -1, "known": false}]}) == set()
	found({"tolerations": []}) == set()
}
