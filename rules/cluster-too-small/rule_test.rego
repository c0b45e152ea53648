package schedlint.rules["cluster-too-small_test"]

import data.schedlint.rules["cluster-too-small"] as subject

bad := {
	"id": 1,
	"w": 0,
	"others": 0,
	"outcome": "never",
	"pods": 10,
	"pending": 2,
	"resource": "cpu",
	"cause": "pods",
	"request": "2",
	"requested": "",
	"offered": "",
	"most": 8,
	"nodes": 7,
	"eligible": 6,
	"growth": [],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"room": [row]}
}

test_reports if {
	subject.report == {{"rule": "cluster-too-small", "fact": 1, "reason": "cluster-too-small"}} with input as {"room": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_growth if {
	fact := object.union(bad, {"growth": [{"pool": "spot", "max": 2}]})
	reported(fact) == {"cluster-too-small"}
}

test_together if {
	fact := object.union(bad, {"others": 2, "cause": "total", "request": "", "requested": "20", "offered": "16", "most": 8})
	reported(fact) == {"cluster-too-small"}
}
