package schedlint.rules["suppression-without-reason_test"]

import data.schedlint.rules["suppression-without-reason"] as subject

bad := {
	"id": 1,
	"problem": "without-reason",
	"by": "comment",
	"rule": "rollout-deadlock",
	"target": "Deployment shop/web",
	"reason": "accepted",
	"until": "",
	"dated": false,
	"suggestion": "",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"suppressions": [fact]}
}

test_reports if {
	message := "the comment suppresses rollout-deadlock for Deployment shop/web without a reason, so it has no effect"
	subject.report == {{"rule": "suppression-without-reason", "fact": 1, "message": message}} with input as {"suppressions": [bad]}
}

test_passes if subject.report == set() with input as {"suppressions": []}

test_another_problem_is_silent if said(object.union(bad, {"problem": "unused"})) == set()

test_unknown_problem_is_silent if said(object.union(bad, {"problem": "unknown"})) == set()
