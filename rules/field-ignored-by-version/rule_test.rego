package schedlint.rules["field-ignored-by-version_test"]

import data.schedlint.rules["field-ignored-by-version"] as subject

dropped := {
	"id": 1,
	"w": 0,
	"stage": "version",
	"gate": "MatchLabelKeysInPodAffinity",
	"field": "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys",
	"reason": "Kubernetes 1.30 drops it: the term counts every pod that its labelSelector matches",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "field-ignored-by-version", "fact": 1, "reason": "field-ignored-by-version"}} with input as {"refusals": [dropped]}
}

test_silent_about_gates if reported(object.union(dropped, {"stage": "gate"})) == set()

test_silent_about_objects if reported(object.union(dropped, {"stage": "object", "gate": ""})) == set()
