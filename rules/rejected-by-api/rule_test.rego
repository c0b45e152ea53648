package schedlint.rules["rejected-by-api_test"]

import data.schedlint.rules["rejected-by-api"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"stage": "object",
	"field": "spec.template.spec.containers",
	"reason": "Required value",
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"refusals": [fact]}
}

test_reports if {
	message := "Deployment shop/web: spec.template.spec.containers: Required value"
	subject.report == {{"rule": "rejected-by-api", "fact": 1, "message": message}} with input as {"refusals": [bad]}
}

test_silent_about_pods if said(object.union(bad, {"stage": "pods"})) == set()

test_silent_about_other_stages if said(object.union(bad, {"stage": ""})) == set()
