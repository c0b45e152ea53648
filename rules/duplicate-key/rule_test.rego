package schedlint.rules["duplicate-key_test"]

import data.schedlint.rules["duplicate-key"] as subject

bad := {
	"id": 1,
	"problem": "duplicate-key",
	"detail": "replicas",
	"first_line": 4,
	"last_counts": false,
}

# reported is what is reported of one row.
reported(row) := report if {
	report := subject.report with input as {"documents": [row]}
}

test_reports if reported(bad) == {{"rule": "duplicate-key", "fact": 1, "reason": "duplicate-key"}}

test_warns_where_the_last_counts if {
	reported(object.union(bad, {"last_counts": true})) == {{"rule": "duplicate-key", "fact": 1, "given": {"reason": "duplicate-key", "level": "warning"}}}
}

test_silent_about_other_problems if {
	every last in {false, true} {
		reported(object.union(bad, {"problem": "alias-cycle", "last_counts": last})) == set()
	}
}

test_silent_about_unknown_problems if reported(object.union(bad, {"problem": ""})) == set()
