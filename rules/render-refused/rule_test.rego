package schedlint.rules["render-refused_test"]

import data.schedlint.rules["render-refused"] as subject

bad := {
	"id": 1,
	"problem": "render-refused",
	"detail": "what says so",
	"first_line": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "schedlint does not render this: what says so"
	subject.report == {{"rule": "render-refused", "fact": 1, "message": message}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
