package schedlint.rules["affinity-never-satisfied_test"]

import data.schedlint.rules["affinity-never-satisfied"] as subject

bad := {
	"id": 1,
	"w": 0,
	"outcome": "never",
	"cause": "missing-key",
	"key": "topology.kubernetes.io/hostname",
	"usable": 6,
	"with": 0,
	"suggestion": "kubernetes.io/hostname",
	"beside": [],
	"between": [],
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"affinity": [row]}
}

test_reports if {
	subject.report == {{"rule": "affinity-never-satisfied", "fact": 1, "reason": "affinity-never-satisfied"}} with input as {"affinity": [bad]}
}

test_passes if reported(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"outcome": "unknown"})) == set()

test_no_selector if {
	fact := object.union(bad, {"cause": "null-selector", "key": "kubernetes.io/hostname", "suggestion": ""})
	reported(fact) == {"affinity-never-satisfied"}
}

test_contradiction if {
	fact := object.union(bad, {"cause": "contradiction", "suggestion": "", "beside": [], "between": ["app=db", "app=cache"]})
	reported(fact) == {"affinity-never-satisfied"}
}
