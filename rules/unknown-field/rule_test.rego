package schedlint.rules["unknown-field_test"]

import data.schedlint.rules["unknown-field"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"field": "topologySpreadConstraint",
	"suggestion": "topologySpreadConstraints",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"unknown_fields": [fact]}
}

test_reports if {
	message := "field topologySpreadConstraint does not exist, so the API server drops it"
	details := ["did you mean topologySpreadConstraints?"]
	subject.report == {{"rule": "unknown-field", "fact": 1, "message": message, "details": details}} with input as {"unknown_fields": [bad]}
}

test_no_suggestion if {
	fact := object.union(bad, {"suggestion": ""})
	said(fact) == {"field topologySpreadConstraint does not exist, so the API server drops it"}
}

test_silent_without_unknown_fields if subject.report == set() with input as {"unknown_fields": []}
