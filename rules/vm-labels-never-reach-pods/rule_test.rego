package schedlint.rules["vm-labels-never-reach-pods_test"]

import data.schedlint.rules["vm-labels-never-reach-pods"] as subject

bad := {
	"id": 1,
	"workload": "VirtualMachine vms/db",
	"label": "app=db",
	"asked": "required anti-affinity of VirtualMachine vms/db",
	"inside": "spec.template.metadata.labels",
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"outer_labels": [fact]}
}

test_reports if {
	message := "VirtualMachine vms/db: its pods do not have the label app=db, which required anti-affinity of VirtualMachine vms/db selects"
	details := ["labels of the machine itself are not copied to its pods; labels in spec.template.metadata.labels are"]
	subject.report == {{"rule": "vm-labels-never-reach-pods", "fact": 1, "message": message, "details": details}} with input as {"outer_labels": [bad]}
}

test_passes if subject.report == set() with input as {"outer_labels": []}

test_pools if {
	fact := object.union(bad, {"workload": "VirtualMachinePool vms/db", "inside": "spec.virtualMachineTemplate.spec.template.metadata.labels"})
	said(fact) == {"VirtualMachinePool vms/db: its pods do not have the label app=db, which required anti-affinity of VirtualMachine vms/db selects; labels of the machine itself are not copied to its pods; labels in spec.virtualMachineTemplate.spec.template.metadata.labels are"}
}
