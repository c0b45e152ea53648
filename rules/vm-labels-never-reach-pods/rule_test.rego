package schedlint.rules["vm-labels-never-reach-pods_test"]

import data.schedlint.rules["vm-labels-never-reach-pods"] as subject

bad := {
	"id": 1,
	"w": 0,
	"label": "app=db",
	"asked_by": {"w": 1, "use": "anti-affinity", "hard": true, "key": "kubernetes.io/hostname"},
	"inside": "spec.template.metadata.labels",
}

# reported gives the reasons that are reported of one row.
reported(row) := reasons if {
	reasons := {d.reason | some d in subject.report} with input as {"outer_labels": [row]}
}

test_reports if {
	subject.report == {{"rule": "vm-labels-never-reach-pods", "fact": 1, "reason": "vm-labels-never-reach-pods"}} with input as {"outer_labels": [bad]}
}

test_soft_rules if reported(object.union(bad, {"asked_by": {"use": "spread", "hard": false}})) == {"vm-labels-never-reach-pods"}

test_no_row if {
	count(subject.report) == 0 with input as {"outer_labels": []}
}
