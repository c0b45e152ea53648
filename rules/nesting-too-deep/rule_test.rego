package schedlint.rules["nesting-too-deep_test"]

import data.schedlint.rules["nesting-too-deep"] as subject

bad := {
	"id": 1,
	"problem": "nesting-too-deep",
	"detail": "more than 200 levels",
	"first_line": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "the document nests too deeply: more than 200 levels"
	subject.report == {{"rule": "nesting-too-deep", "fact": 1, "message": message}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
