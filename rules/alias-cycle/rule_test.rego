package schedlint.rules["alias-cycle_test"]

import data.schedlint.rules["alias-cycle"] as subject

bad := {
	"id": 1,
	"problem": "alias-cycle",
	"detail": "anchor &a contains itself",
	"first_line": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "anchor &a contains itself, so the document is infinite"
	subject.report == {{"rule": "alias-cycle", "fact": 1, "message": message}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-bomb"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
