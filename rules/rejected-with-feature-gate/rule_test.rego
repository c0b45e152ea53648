package schedlint.rules["rejected-with-feature-gate_test"]

import data.schedlint.rules["rejected-with-feature-gate"] as subject

bad := {
	"id": 1,
	"workload": "StatefulSet shop/db",
	"stage": "gate",
	"gate": "MaxUnavailableStatefulSet",
	"field": "spec.updateStrategy.rollingUpdate.maxUnavailable",
	"reason": "maxUnavailable is 0: must be above 0",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"refusals": [fact]}
}

test_reports if {
	message := "StatefulSet shop/db: spec.updateStrategy.rollingUpdate.maxUnavailable: maxUnavailable is 0: must be above 0"
	details := ["the API server drops the field, or rejects it if the feature gate MaxUnavailableStatefulSet is enabled"]
	subject.report == {{"rule": "rejected-with-feature-gate", "fact": 1, "message": message, "details": details}} with input as {"refusals": [bad]}
}

test_silent_about_objects if said(object.union(bad, {"stage": "object", "gate": ""})) == set()

test_silent_about_pods if said(object.union(bad, {"stage": "pods", "gate": ""})) == set()
