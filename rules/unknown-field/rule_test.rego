package schedlint.rules["unknown-field_test"]

import data.schedlint.rules["unknown-field"] as subject

bad := {
	"id": 1,
	"w": 0,
	"field": "topologySpreadConstraint",
	"suggestion": "topologySpreadConstraints",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"unknown_fields": [row]}
}

test_reports if {
	subject.report == {{"rule": "unknown-field", "fact": 1, "reason": "unknown-field"}} with input as {"unknown_fields": [bad]}
}

test_no_suggestion if {
	fact := object.union(bad, {"suggestion": ""})
	reported(fact) == {"unknown-field"}
}

test_silent_without_unknown_fields if subject.report == set() with input as {"unknown_fields": []}
