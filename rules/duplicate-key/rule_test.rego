package schedlint.rules["duplicate-key_test"]

import data.schedlint.rules["duplicate-key"] as subject

bad := {
	"id": 1,
	"problem": "duplicate-key",
	"detail": "replicas",
	"first_line": 4,
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "duplicate key replicas (first defined on line 4)"
	details := ["only one of the two takes effect"]
	subject.report == {{"rule": "duplicate-key", "fact": 1, "message": message, "details": details}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
