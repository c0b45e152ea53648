package schedlint.rules["unparsable-document_test"]

import data.schedlint.rules["unparsable-document"] as subject

bad := {
	"id": 1,
	"problem": "unparsable-document",
	"detail": "line 3: did not find expected key",
	"first_line": 0,
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"documents": [row]}
}

test_reports if {
	subject.report == {{"rule": "unparsable-document", "fact": 1, "reason": "unparsable-document"}} with input as {"documents": [bad]}
}

test_silent_about_other_problems if reported(object.union(bad, {"problem": "alias-cycle"})) == set()

test_silent_about_unknown_problems if reported(object.union(bad, {"problem": ""})) == set()
