package schedlint.rules["pods-rejected-by-api_test"]

import data.schedlint.rules["pods-rejected-by-api"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"stage": "pods",
	"field": "spec.template.spec.tolerations[0].operator",
	"reason": "Unsupported value: \"Is\"",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"refusals": [fact]}
}

test_reports if {
	message := "Deployment shop/web: the API server rejects every pod: spec.template.spec.tolerations[0].operator: Unsupported value: \"Is\""
	subject.report == {{"rule": "pods-rejected-by-api", "fact": 1, "message": message}} with input as {"refusals": [bad]}
}

test_silent_about_the_object if said(object.union(bad, {"stage": "object"})) == set()

test_silent_about_other_stages if said(object.union(bad, {"stage": ""})) == set()
