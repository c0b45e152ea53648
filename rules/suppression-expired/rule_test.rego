package schedlint.rules["suppression-expired_test"]

import data.schedlint.rules["suppression-expired"] as subject

bad := {
	"id": 1,
	"problem": "expired",
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
	message := "the comment that suppresses rollout-deadlock for Deployment shop/web was valid until 2026-01-31 and no longer applies"
	fact := object.union(bad, {"until": "2026-01-31", "dated": true})
	subject.report == {{"rule": "suppression-expired", "fact": 1, "message": message}} with input as {"suppressions": [fact]}
}

test_no_day if {
	said(object.union(bad, {"until": "soon", "target": ""})) == {"the comment that suppresses rollout-deadlock has no effect: until=soon is not a date such as 2027-03-31"}
}

test_baseline if {
	fact := object.union(bad, {"by": "baseline", "rule": "", "target": "", "until": "2026-01-31", "dated": true})
	said(fact) == {"the baseline was valid until 2026-01-31 and no longer applies"}
}

test_passes if subject.report == set() with input as {"suppressions": []}

test_another_problem_is_silent if said(object.union(bad, {"problem": "unused"})) == set()

test_unknown_problem_is_silent if said(object.union(bad, {"problem": "unknown"})) == set()
