package schedlint.rules["vm-cannot-migrate_test"]

import data.schedlint.rules["vm-cannot-migrate"] as subject

bad := {
	"id": 1,
	"workload": "VirtualMachine vms/db",
	"outcome": "never",
	"machines": 1,
	"reasons": ["required affinity on kubernetes.io/hostname"],
	"room": "",
	"evicts": true,
}

# said gives what is reported of one fact: each message and its details.
said(fact) := messages if {
	messages := {concat("; ", array.concat([d.message], d.details)) | some d in subject.report} with input as {"migrations": [fact]}
}

test_reports if {
	message := "VirtualMachine vms/db: it cannot live-migrate"
	details := ["the target pod needs another node while the source pod still runs", "no node can take another pod because of required affinity on kubernetes.io/hostname", "with evictionStrategy LiveMigrate this blocks node drains"]
	subject.report == {{"rule": "vm-cannot-migrate", "fact": 1, "message": message, "details": details}} with input as {"migrations": [bad]}
}

test_passes if said(object.union(bad, {"outcome": "always"})) == set()

test_unknown_is_silent if said(object.union(bad, {"outcome": "unknown"})) == set()

test_several_machines if {
	fact := object.union(bad, {"workload": "VirtualMachinePool vms/db", "machines": 3, "reasons": ["required anti-affinity on topology.kubernetes.io/zone"], "room": "3 pods fit on 3 topology.kubernetes.io/zone values", "evicts": false})
	said(fact) == {"VirtualMachinePool vms/db: none of its 3 machines can live-migrate; the target pod needs another node while the source pod still runs; at most 3 pods fit on 3 topology.kubernetes.io/zone values because of required anti-affinity on topology.kubernetes.io/zone"}
}

test_maybe if {
	fact := object.union(bad, {"outcome": "sometimes", "reasons": [], "evicts": false})
	said(fact) == {"VirtualMachine vms/db: it may be unable to live-migrate; the target pod needs another node while the source pod still runs"}
}

test_maybe_several if {
	fact := object.union(bad, {"workload": "VirtualMachinePool vms/db", "outcome": "sometimes", "machines": 3, "reasons": [], "evicts": false})
	said(fact) == {"VirtualMachinePool vms/db: its 3 machines may be unable to live-migrate; the target pod needs another node while the source pod still runs"}
}
