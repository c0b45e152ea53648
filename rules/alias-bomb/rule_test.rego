package schedlint.rules["alias-bomb_test"]

import data.schedlint.rules["alias-bomb"] as subject

bad := {
	"id": 1,
	"problem": "alias-bomb",
	"detail": "aliases expand to more than 1000 values",
	"first_line": 0,
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "aliases expand to more than 1000 values"
	details := ["write out the values instead of using aliases"]
	subject.report == {{"rule": "alias-bomb", "fact": 1, "message": message, "details": details}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
