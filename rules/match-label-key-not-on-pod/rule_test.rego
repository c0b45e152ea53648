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

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"label_keys": [fact]}
}

test_reports if {
	message := "Deployment shop/web: matchLabelKeys names pod-template-hsah, which its pods do not carry, so the entry is skipped; did you mean pod-template-hash?"
	subject.report == {{"rule": "match-label-key-not-on-pod", "fact": 1, "message": message}} with input as {"label_keys": [bad]}
}

test_passes if said(object.union(bad, {"on_pod": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"on_pod": "unknown"})) == set()
