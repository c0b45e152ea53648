package schedlint.rules["crowded-out_test"]

import data.schedlint.rules["crowded-out"] as subject

bad := {
	"id": 1,
	"w": 0,
	"workloads": [0, 1],
	"outcome": "never",
	"pods": 4,
	"most": 3,
	"pending": 1,
	"nodes": 3,
	"core": [{"w": 0, "use": "anti-affinity", "key": "kubernetes.io/hostname", "excluded": []}],
	"growth": [],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"crowds": [row]}
}

test_reports if {
	subject.report == {{"rule": "crowded-out", "fact": 1, "reason": "crowded-out"}} with input as {"crowds": [bad]}
}

test_one_workload if {
	fact := object.union(bad, {"workloads": [0]})
	reported(fact) == {"crowded-out"}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()
