package schedlint.rules["invalid-placement-fields_test"]

import data.schedlint.rules["invalid-placement-fields"] as subject

bad := {
	"id": 1,
	"workload": "Prometheus shop/web",
	"stage": "fragment",
	"field": "spec.tolerations[0].operator",
	"reason": "operator is \"Exist\": must be Equal or Exists",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"refusals": [fact]}
}

test_reports if {
	message := "Prometheus shop/web: spec.tolerations[0].operator: operator is \"Exist\": must be Equal or Exists"
	details := ["the API server rejects pods with this value"]
	subject.report == {{"rule": "invalid-placement-fields", "fact": 1, "message": message, "details": details}} with input as {"refusals": [bad]}
}

test_silent_about_objects if said(object.union(bad, {"stage": "object"})) == set()

test_silent_about_pods if said(object.union(bad, {"stage": "pods"})) == set()
