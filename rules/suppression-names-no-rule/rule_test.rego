package schedlint.rules["suppression-names-no-rule_test"]

import data.schedlint.rules["suppression-names-no-rule"] as subject

bad := {
	"id": 1,
	"problem": "names-no-rule",
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
	message := "the comment for Deployment shop/web suppresses rolout-deadlock, which is not a rule (did you mean rollout-deadlock?)"
	fact := object.union(bad, {"rule": "rolout-deadlock", "suggestion": "rollout-deadlock"})
	subject.report == {{"rule": "suppression-names-no-rule", "fact": 1, "message": message}} with input as {"suppressions": [fact]}
}

test_no_name if said(object.union(bad, {"rule": "", "target": ""})) == {"the comment does not name the rule to suppress"}

test_passes if subject.report == set() with input as {"suppressions": []}

test_another_problem_is_silent if said(object.union(bad, {"problem": "unused"})) == set()

test_unknown_problem_is_silent if said(object.union(bad, {"problem": "unknown"})) == set()
