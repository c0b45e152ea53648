package schedlint.rules["duplicate-key_test"]

import data.schedlint.rules["duplicate-key"] as subject

bad := {
	"id": 1,
	"problem": "duplicate-key",
	"detail": "replicas",
	"first_line": 4,
	"last_counts": false,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"documents": [row]}
}

test_reports if {
	subject.report == {{"rule": "duplicate-key", "fact": 1, "reason": "duplicate-key"}} with input as {"documents": [bad]}
}

test_warns_where_the_last_counts if {
	subject.report == {{"rule": "duplicate-key", "fact": 1, "given": {"reason": "duplicate-key", "level": "warning"}}} with input as {"documents": [object.union(bad, {"last_counts": true})]}
}

test_silent_about_other_problems if {
	every last in {false, true} {
		reported(object.union(bad, {"problem": "alias-cycle", "last_counts": last})) == set()
	}
}

test_silent_about_unknown_problems if reported(object.union(bad, {"problem": ""})) == set()
