package schedlint.rules["match-label-key-not-on-pod_test"]

import data.schedlint.rules["match-label-key-not-on-pod"] as subject

bad := {
	"id": 1,
	"w": 0,
	"list": "matchLabelKeys",
	"key": "pod-template-hsah",
	"on_pod": "never",
	"nearest": "pod-template-hash",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"label_keys": [row]}
}

test_reports if {
	subject.report == {{"rule": "match-label-key-not-on-pod", "fact": 1, "reason": "match-label-key-not-on-pod"}} with input as {"label_keys": [bad]}
}

test_passes if reported(object.union(bad, {"on_pod": "always"})) == set()

test_unknown_is_silent if reported(object.union(bad, {"on_pod": "unknown"})) == set()
