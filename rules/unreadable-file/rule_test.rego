package schedlint.rules["unreadable-file_test"]

import data.schedlint.rules["unreadable-file"] as subject

bad := {
	"id": 1,
	"problem": "unreadable-file",
	"detail": "cannot be opened: permission denied",
	"first_line": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "the file cannot be opened: permission denied"
	subject.report == {{"rule": "unreadable-file", "fact": 1, "message": message}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
