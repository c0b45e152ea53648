package schedlint.rules["unknown-priority-class_test"]

import data.schedlint.rules["unknown-priority-class"] as subject

bad := {
	"id": 1,
	"w": 0,
	"stage": "class",
	"field": "spec.template.spec.priorityClassName",
	"reason": "no PriorityClass with the name system-cluster-critcal is declared",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"refusals": [row]}
}

test_reports if {
	subject.report == {{"rule": "unknown-priority-class", "fact": 1, "reason": "unknown-priority-class"}} with input as {"refusals": [bad]}
}

test_silent_about_pods if reported(object.union(bad, {"stage": "pods"})) == set()

test_silent_about_gates if reported(object.union(bad, {"stage": "gate"})) == set()
