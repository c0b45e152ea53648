package schedlint.rules["vm-cannot-migrate_test"]

import data.schedlint.rules["vm-cannot-migrate"] as subject

bad := {
	"id": 1,
	"workload": "VirtualMachine vms/db",
	"ending": "never",
	"machines": 1,
	"reasons": ["required affinity on kubernetes.io/hostname"],
	"room": "",
	"evicts": true,
}

# said gives the messages about one fact.
said(fact) := messages if {
	messages := {d.message | some d in subject.report} with input as {"migrations": [fact]}
}

test_reports if {
	message := "VirtualMachine vms/db: it cannot migrate while it runs; the second pod has to find a node beside the first; required affinity on kubernetes.io/hostname leaves no room; its evictionStrategy LiveMigrate then blocks a drain"
	subject.report == {{"rule": "vm-cannot-migrate", "fact": 1, "message": message}} with input as {"migrations": [bad]}
}

test_passes if said(object.union(bad, {"ending": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"ending": "unknown"})) == set()

test_several_machines if {
	fact := object.union(bad, {"workload": "VirtualMachinePool vms/db", "machines": 3, "reasons": ["required anti-affinity on topology.kubernetes.io/zone"], "room": "3 pods on 3 values of topology.kubernetes.io/zone", "evicts": false})
	said(fact) == {"VirtualMachinePool vms/db: none of its 3 machines can migrate while it runs; the second pod has to find a node beside the first; required anti-affinity on topology.kubernetes.io/zone leaves room for 3 pods on 3 values of topology.kubernetes.io/zone"}
}

test_maybe if {
	fact := object.union(bad, {"ending": "sometimes", "reasons": [], "evicts": false})
	said(fact) == {"VirtualMachine vms/db: it may be unable to migrate while it runs; the second pod has to find a node beside the first"}
}

test_maybe_several if {
	fact := object.union(bad, {"workload": "VirtualMachinePool vms/db", "ending": "sometimes", "machines": 3, "reasons": [], "evicts": false})
	said(fact) == {"VirtualMachinePool vms/db: its 3 machines may be unable to migrate while they run; the second pod has to find a node beside the first"}
}
