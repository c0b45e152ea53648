package schedlint.rules["unparsable-document_test"]

import data.schedlint.rules["unparsable-document"] as subject

bad := {
	"id": 1,
	"problem": "unparsable-document",
	"detail": "line 3: did not find expected key",
	"first_line": 0,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "not valid YAML or JSON: line 3: did not find expected key"
	subject.report == {{"rule": "unparsable-document", "fact": 1, "message": message}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
