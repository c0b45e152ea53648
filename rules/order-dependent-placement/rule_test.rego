package schedlint.rules["order-dependent-placement_test"]

import data.schedlint.rules["order-dependent-placement"] as subject

bad := {
	"id": 1,
	"w": 0,
	"pods": 3,
	"pending": 1,
	"placed": [{"w": 1, "pods": 2, "nodes": 2, "on": [{"node": "n1", "pods": 1}, {"node": "n2", "pods": 1}]}],
	"refused": [{"filter": "InterPodAffinity", "nodes": 3}],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.given.reason | some d in subject.report} with input as {"orders": [row]}
}

test_reports if {
	subject.report == {{"rule": "order-dependent-placement", "fact": 1, "given": {"reason": "order-dependent-placement"}}} with input as {"orders": [bad]}
}

test_names_a_few if {
	fact := object.union(bad, {"placed": [{"w": 1, "pods": 2, "nodes": 2, "on": [{"node": "n1", "pods": 1}, {"node": "n2", "pods": 1}]}, {"w": 2, "pods": 2, "nodes": 2, "on": [{"node": "n1", "pods": 1}, {"node": "n2", "pods": 1}]}, {"w": 3, "pods": 2, "nodes": 2, "on": [{"node": "n1", "pods": 1}, {"node": "n2", "pods": 1}]}, {"w": 4, "pods": 2, "nodes": 2, "on": [{"node": "n1", "pods": 1}, {"node": "n2", "pods": 1}]}, {"w": 5, "pods": 2, "nodes": 2, "on": [{"node": "n1", "pods": 1}, {"node": "n2", "pods": 1}]}]})
	reported(fact) == {"order-dependent-placement"}
}

test_single_pod if {
	fact := object.union(bad, {"pods": 1})
	reported(fact) == {"order-dependent-placement"}
}

test_silent_without_runs if subject.report == set() with input as {"orders": []}

test_rare_is_a_note if {
	row := object.union(bad, {"typical": {"runs": 200, "shown": 2, "preempts": 0}})
	{d.given.level | some d in subject.report} == {"note"} with input as {"orders": [row]}
}
