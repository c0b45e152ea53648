package schedlint.rules["match-label-key-not-on-pod_test"]

import data.schedlint.rules["match-label-key-not-on-pod"] as subject

bad := {
	"id": 1,
	"workload": "Deployment shop/web",
	"list": "matchLabelKeys",
	"key": "pod-template-hsah",
	"on_pod": "never",
	"nearest": "pod-template-hash",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"label_keys": [fact]}
}

test_reports if {
	message := "Deployment shop/web: matchLabelKeys lists pod-template-hsah, but its pods do not have that label, so the entry is ignored"
	details := ["did you mean pod-template-hash?"]
	subject.report == {{"rule": "match-label-key-not-on-pod", "fact": 1, "message": message, "details": details}} with input as {"label_keys": [bad]}
}

test_passes if said(object.union(bad, {"on_pod": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"on_pod": "unknown"})) == set()
