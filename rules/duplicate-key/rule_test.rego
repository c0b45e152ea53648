package schedlint.rules["duplicate-key_test"]

import data.schedlint.rules["duplicate-key"] as subject

bad := {
	"id": 1,
	"problem": "duplicate-key",
	"detail": "replicas",
	"first_line": 4,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"documents": [fact]}
}

test_reports if {
	message := "key replicas stands here for the second time; the first is on line 4, and only one of them counts"
	subject.report == {{"rule": "duplicate-key", "fact": 1, "message": message}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if said(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if said(object.union(bad, {"problem": ""})) == set()
